import ArgumentParser

/// The program's version; the changelog's newest heading agrees with it.
let plimsollVersion = "0.1.0"

@main
struct Plimsoll: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plimsoll",
        abstract: "Runs many simulated apps on real memory under a hard ceiling, and shows what a reclaim policy does.",
        discussion: """
            EXAMPLES
              plimsoll run Scenarios/quickstart.yaml
              plimsoll run Scenarios/evening-commute.yaml --policy lru --set 'expect=[]' --out runs/lru
              plimsoll run Scenarios/quickstart.yaml --set device.ceiling=400MiB --set 'expect=[]'
              plimsoll compare Scenarios/evening-commute.yaml --policy ladder --policy jetsam --seeds 1..20
              plimsoll sweep Scenarios/quickstart.yaml --vary device.ceiling=400MiB,512MiB --out sweeps/a
              plimsoll validate Scenarios/*.yaml
              plimsoll list policies
              plimsoll schema scenario > plimsoll.schema.json

            EXIT STATUS
              0  done, and every expectation held        71  the host refuses (memory, allocator)
              64 wrong usage                             73  output cannot be created
              65 the scenario is invalid                 74  output cannot be written
              66 the scenario is missing                 99  an expectation did not hold
              70 our own fault                           129, 130, 143  interrupted; the CSV is flushed

            With the environment variable NO_COLOR nothing is coloured.
            """,
        version: plimsollVersion,
        subcommands: [
            RunCommand.self, CompareCommand.self, SweepCommand.self, ExplainCommand.self, ValidateCommand.self,
            ImportCommand.self, ListCommand.self, SchemaCommand.self, DoctorCommand.self, CaseCommand.self,
            BuildCommand.self,
        ])

    static func main() {
        Terminal.secureDescriptors()
        main(nil)
    }
}
