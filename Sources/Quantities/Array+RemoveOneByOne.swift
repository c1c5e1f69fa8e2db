extension Array {
    /// Removes all elements and keeps the memory. For a few elements it takes a third of the time of `removeAll`, which
    /// uses the general replacement of a range.
    ///
    /// - Complexity: O(*n*).
    @inlinable
    public mutating func removeOneByOne() {
        while !isEmpty { removeLast() }
    }
}
