import Commands
import Glibc

exit(CommandLineTool.run(CommandLine.arguments))
