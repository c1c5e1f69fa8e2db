import plimsoll

@main
enum Main {
    static func main() { PlimsollProgram.main(adding: [LargestAsleep.self]) }
}
