import ArgumentParser
import Scenario

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract:
            "Prints a schema: of scenarios or policy files for editors (JSON Schema), or of the CSV (Table Schema).",
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

    @Argument(help: "scenario, policy or csv.")
    var kind: Kind

    func run() throws {
        switch kind {
        case .scenario: Terminal.say(ScenarioSchema.json())
        case .policy: Terminal.say(PolicyFile.schema())
        case .csv: Terminal.say(try DataPackage.tables())
        }
    }
}
