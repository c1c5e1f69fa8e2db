extension SeededGenerator {
    /// A normal number with mean 0 and standard deviation 1, by Marsaglia's polar method (1964). It is the same on
    /// every machine: only IEEE basic arithmetic and square roots compute it.
    public mutating func normal() -> Double {
        while true {
            let (u, v) = (2 * unit() - 1, 2 * unit() - 1)
            let square = u * u + v * v
            guard square > 0, square < 1 else { continue }
            return u * (-2 * naturalLogarithm(square) / square).squareRoot()
        }
    }
}
