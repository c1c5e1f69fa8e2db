/// How the engine was compiled. Debug builds of this package optimise it and keep the checks of the tests; a run of a
/// build whose flags say otherwise takes ten times as long.
public enum EngineBuild {
    /// Whether the compiler optimised this module.
    public static var isOptimised: Bool {
        var isOptimised = true
        // The condition of an assertion is evaluated in code that is not optimised, and only there.
        assert(
            {
                isOptimised = false
                return true
            }())
        return isOptimised
    }
}
