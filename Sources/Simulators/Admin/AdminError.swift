/// What is wrong with a request to the admin port, told to the person who wrote it.
struct AdminError: Error, Equatable {
  var status = 400
  var detail: String

  init(status: Int = 400, _ detail: String) {
    self.status = status
    self.detail = detail
  }
}
