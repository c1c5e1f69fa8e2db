extension RandomAccessCollection {
    /// The first index whose element satisfies `isSo`, by binary search; the end index if none does. Every element
    /// after one that satisfies it must satisfy it, too.
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
