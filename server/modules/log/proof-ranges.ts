/** The leaves from `begin` to `end` (exclusive), whose tree has one hash in a proof. */
export interface LeafRange {
  begin: number
  end: number
}

/** Returns the hashes of PATH(m, D[n]) of RFC 6962 §2.1.1, in its order. The index must be below the size. */
export function inclusionRanges(logIndex: number, treeSize: number): LeafRange[] {
  const ranges: LeafRange[] = []
  for (let width = 1, index = logIndex; width < treeSize; width *= 2, index = Math.floor(index / 2)) {
    const begin = (index % 2 === 0 ? index + 1 : index - 1) * width
    if (begin < treeSize) ranges.push({ begin, end: Math.min(begin + width, treeSize) })
  }
  return ranges
}

/**
 * Returns the hashes of PROOF(m, D[n]) of RFC 6962 §2.1.2, in its order. The first size must not exceed the second;
 * size 0 needs none.
 */
export function consistencyRanges(firstSize: number, secondSize: number): LeafRange[] {
  if (firstSize === 0) return []
  const ranges: LeafRange[] = []
  let [begin, end] = [0, secondSize]
  while (end !== firstSize) {
    let width = 1
    while (width * 2 < end - begin) width *= 2
    const split = begin + width
    if (firstSize <= split) {
      ranges.push({ begin: split, end })
      end = split
    } else {
      ranges.push({ begin, end: split })
      begin = split
    }
  }
  // A verifier knows the whole first tree.
  if (begin > 0) ranges.push({ begin, end })
  return ranges.reverse()
}
