import Glibc
import Simulators

exit(SimulatorCommand.run(CommandLine.arguments))
