import ArgumentParser
import Scenario

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Prints a schema: of scenarios for editors (JSON Schema), or of the CSV files (Table Schema).",
        discussion: """
            EXAMPLES
              plimsoll schema scenario > plimsoll.schema.json
              plimsoll schema csv
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case scenario
        case csv
    }

    @Argument(help: "scenario or csv.")
    var kind: Kind

    func run() throws {
        switch kind {
        case .scenario: Terminal.say(ScenarioSchema.json())
        case .csv: Terminal.say(try DataPackage.tables())
        }
    }
}
