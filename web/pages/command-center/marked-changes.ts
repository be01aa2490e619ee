/** Something that may explain a change of metrics: a new price, a new version of a skill. */
export interface Change {
  /** Milliseconds since 1970. */
  at: number
  name: string
}

interface Slot {
  start: string
  label: string
}

/** Changes of one hour or day of a chart. */
export interface MarkedChange {
  /** The label of the hour or day. */
  label: string
  names: string[]
}

/** Assigns changes to their hours or days. */
export function markChanges(changes: readonly Change[], slots: readonly Slot[]): MarkedChange[] {
  const starts = slots.map(({ start }) => Date.parse(start))
  const bySlot = Map.groupBy(changes, ({ at }) => starts.findLastIndex((start) => start <= at))
  return [...bySlot].flatMap(([index, found]) => {
    const label = slots[index]?.label
    return label === undefined ? [] : [{ label, names: [...new Set(found.map(({ name }) => name))] }]
  })
}

export function priceChangeText({ names }: MarkedChange): string {
  return names.length === 1 ? `Price of ${names[0]} changed` : `Prices of ${names.length} models changed`
}

export function releaseText({ names }: MarkedChange): string {
  return names.length === 1 ? `New version: ${names[0]}` : `${names.length} new skill versions`
}
