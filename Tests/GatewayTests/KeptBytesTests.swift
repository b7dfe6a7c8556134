import Synchronization
import Testing

@testable import Gateway

/// What is kept of bodies is counted, over all loops and to the byte.
struct KeptBytesTests {
  private func append(_ count: Int, to kept: inout KeptBytes, most: Int, _ budget: KeptBytesBudget) -> Bool {
    [UInt8](repeating: 1, count: count).withUnsafeBytes { kept.append($0, most: most, within: budget) }
  }

  @Test func `the block is charged, not what is in it`() {
    let budget = KeptBytesBudget(bytes: 1_000)
    var kept = KeptBytes()
    let first = append(100, to: &kept, most: .max, budget)
    #expect(first && budget.remainingBytes == 900)
    let second = append(1, to: &kept, most: .max, budget)
    #expect(second && budget.remainingBytes == 800)
    let third = append(99, to: &kept, most: .max, budget)
    #expect(third && kept.count == 200 && budget.remainingBytes == 800)
    kept.release(to: budget)
    #expect(kept.isEmpty && budget.remainingBytes == 1_000)
  }

  @Test func `a block grows no larger than all that can come`() {
    let budget = KeptBytesBudget(bytes: 1_000)
    var kept = KeptBytes()
    let isKept = (append(100, to: &kept, most: 130, budget), append(1, to: &kept, most: 130, budget))
    #expect(isKept.0 && isKept.1 && budget.remainingBytes == 870)
    kept.release(to: budget)
  }

  @Test func `without room for the block nothing is appended, and nothing is lost`() {
    let budget = KeptBytesBudget(bytes: 150)
    var kept = KeptBytes()
    let isKept = (append(100, to: &kept, most: .max, budget), append(1, to: &kept, most: .max, budget))
    #expect(isKept.0 && !isKept.1 && kept.count == 100 && budget.remainingBytes == 50)
    kept.release(to: budget)
    #expect(budget.remainingBytes == 150)
  }

  @Test func `what was taken ahead is used first, and the rest of it given back`() {
    let budget = KeptBytesBudget(bytes: 100)
    var kept = KeptBytes()
    let isReserved = (
      kept.reserve(80, most: .max, within: budget), kept.reserve(80, most: .max, within: budget)
    )
    #expect(isReserved.0 && isReserved.1 && budget.remainingBytes == 20)
    let isKept = append(30, to: &kept, most: .max, budget)
    #expect(isKept && budget.remainingBytes == 70)
    kept.release(to: budget)
  }

  @Test func `a refused answer counts, too`() {
    let budget = KeptBytesBudget(bytes: 100)
    var held = HeldResponse()
    let isHeld = [UInt8](repeating: 1, count: 60).withUnsafeBytes { bytes in
      held.begin(bytes, budget: budget)
      return (held.append(bytes, within: budget), held.append(bytes, within: budget))
    }
    #expect(isHeld.0 && !isHeld.1 && held.bodyBytes == 60 && budget.remainingBytes == 40)
    held.release(to: budget)
    #expect(held.isEmpty && budget.remainingBytes == 100)
  }

  @Test func `threads never take more than there is, and get all of it`() {
    let budget = KeptBytesBudget(bytes: 10)
    let sawOverdraft = Atomic(false)
    onThreads(4) {
      // In two sizes, which do not both fit for everybody.
      for turn in 0..<50_000 where budget.take(3 + turn % 2) {
        if budget.remainingBytes < 0 { sawOverdraft.store(true, ordering: .relaxed) }
        budget.giveBack(3 + turn % 2)
      }
    }
    let wasOverdrawn = sawOverdraft.load(ordering: .relaxed)
    #expect(!wasOverdrawn)
    #expect(budget.remainingBytes == 10)
    let all = budget.take(10)
    #expect(all && !budget.take(1))
  }
}
