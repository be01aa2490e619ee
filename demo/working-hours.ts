import { type ArchetypeId, archetypes } from './company.ts'
import { type DemoPeriod, demoDays, quarterHourMs, type Slot } from './period.ts'

/** Activity by the hour of the local clock, from midnight, with a dip at lunch. */
const officeHours = [
  0, 0, 0, 0, 0, 0, 0.02, 0.15, 0.55, 0.95, 1, 1, 0.5, 0.7, 1, 1, 0.9, 0.6, 0.25, 0.1, 0.04, 0.02, 0, 0,
]
const supportHours = [
  ...[0.04, 0.03, 0.03, 0.03, 0.03, 0.05, 0.15, 0.4, 0.8, 1, 1.1, 1],
  ...[0.65, 0.8, 1, 1, 1, 0.9, 0.7, 0.5, 0.35, 0.2, 0.1, 0.06],
]

/** Share of each archetype in the invocations of a weekday. */
const weekdayShares: Record<ArchetypeId, number> = {
  'support-agent': 45,
  'software-engineer': 18,
  'account-executive': 15,
  'data-analyst': 9,
  'finance-controller': 7,
  'legal-counsel': 6,
}

/** Activity on a weekend day relative to a weekday: support is open, and some engineers are on call. */
const weekendFactors: Partial<Record<ArchetypeId, number>> = { 'support-agent': 0.55, 'software-engineer': 0.04 }

/** Growth of use from the first day to the last. */
const growth = 0.3

export type SlotWeights = readonly (readonly [ArchetypeId, number])[]

/** Returns the weight of each archetype in a slot, relative to all slots. */
export function weightsOf(slot: Slot): SlotWeights {
  const scale = (1 + (growth * slot.day) / (demoDays - 1)) * ((slot.endMs - slot.startMs) / quarterHourMs)
  return archetypes.map(({ archetype_id: id }) => {
    const hours = id === 'support-agent' ? supportHours : officeHours
    const ofDay = hours.reduce((sum, hour) => sum + hour, 0)
    const weekend = slot.isWeekend ? (weekendFactors[id] ?? 0) : 1
    return [id, ((weekdayShares[id] * (hours[slot.hour] ?? 0)) / ofDay) * weekend * scale] as const
  })
}

/** A slot with its consecutive rows, `from` ≤ row < `to`. */
export interface FilledSlot {
  slot: Slot
  weights: SlotWeights
  from: number
  to: number
}

/** Distributes `rows` over the slots in order, in proportion to their activity. */
export function fillSlots(period: DemoPeriod, rows: number): FilledSlot[] {
  const weighed = period.slots.map((slot) => {
    const weights = weightsOf(slot)
    return { slot, weights, sum: weights.reduce((sum, [, weight]) => sum + weight, 0) }
  })
  const total = weighed.reduce((sum, each) => sum + each.sum, 0)
  let before = 0
  return weighed.map(({ slot, weights, sum }) => {
    const from = Math.round((rows * before) / total)
    before += sum
    return { slot, weights, from, to: Math.round((rows * before) / total) }
  })
}
