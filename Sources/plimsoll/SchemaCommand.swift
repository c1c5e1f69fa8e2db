import ArgumentParser
import RunFolders
import Scenario

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract:
            "Prints the schema of scenarios or policy files (JSON Schema), or of the CSV files (Table Schema).",
        discussion: """
            EXAMPLES
              plimsoll schema scenario > plimsoll.schema.json
              plimsoll schema policy > plimsoll-policy.schema.json
              plimsoll schema csv
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case scenario
        case policy
        case csv
    }

    @Argument(help: "What to describe.")
    var kind: Kind

    func run() throws {
        switch kind {
        case .scenario: Terminal.say(ScenarioSchema.json())
        case .policy: Terminal.say(PolicyFile.schema())
        case .csv: Terminal.say(try DataPackage.tables())
        }
    }
}
