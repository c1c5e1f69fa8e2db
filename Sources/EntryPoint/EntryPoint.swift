import plimsoll

@main
enum EntryPoint {
    static func main() { PlimsollProgram.main() }
}
