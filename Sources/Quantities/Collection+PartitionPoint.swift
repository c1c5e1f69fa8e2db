extension RandomAccessCollection {
    /// The first place whose element is so, by halving; the end if none is. Every element before it must not be so,
    /// and every one after it must be.
    ///
    /// - Complexity: O(log *n*).
    @inlinable
    public func partitionPoint(_ isSo: (Element) -> Bool) -> Index {
        var (low, count) = (startIndex, self.count)
        while count > 0 {
            let half = count / 2
            let middle = index(low, offsetBy: half)
            if isSo(self[middle]) {
                count = half
            } else {
                low = index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}
