import { type ArchetypeId, archetypes } from './company.ts'
import { type DemoPeriod, demoDays, quarterMs, type Slot } from './period.ts'

/** Activity by the hour of the local clock, with a dip at lunch. Midnight comes first. */
const officeHours = [
  0, 0, 0, 0, 0, 0, 0.02, 0.15, 0.55, 0.95, 1, 1, 0.5, 0.7, 1, 1, 0.9, 0.6, 0.25, 0.1, 0.04, 0.02, 0, 0,
]
const supportHours = [
  ...[0.04, 0.03, 0.03, 0.03, 0.03, 0.05, 0.15, 0.4, 0.8, 1, 1.1, 1],
  ...[0.65, 0.8, 1, 1, 1, 0.9, 0.7, 0.5, 0.35, 0.2, 0.1, 0.06],
]

/** Share of an archetype in the invocations of a weekday. */
const weekdayShares: Record<ArchetypeId, number> = {
  'support-agent': 45,
  'software-engineer': 18,
  'account-executive': 15,
  'data-analyst': 9,
  'finance-controller': 7,
  'legal-counsel': 6,
}

/** A weekend day of an archetype against its weekday: support is open, of the engineers somebody is on call. */
const weekendFactors: Partial<Record<ArchetypeId, number>> = { 'support-agent': 0.55, 'software-engineer': 0.04 }

/** Growth of use from the first day to the last. */
const growth = 0.3

export type SlotWeights = readonly (readonly [ArchetypeId, number])[]

/** How much each archetype does in a slot, against all other slots. */
export function weightsOf(slot: Slot): SlotWeights {
  const scale = (1 + (growth * slot.day) / (demoDays - 1)) * ((slot.endMs - slot.startMs) / quarterMs)
  return archetypes.map(({ archetype_id: id }) => {
    const hours = id === 'support-agent' ? supportHours : officeHours
    const ofDay = hours.reduce((sum, hour) => sum + hour, 0)
    const weekend = slot.isWeekend ? (weekendFactors[id] ?? 0) : 1
    return [id, ((weekdayShares[id] * (hours[slot.hour] ?? 0)) / ofDay) * weekend * scale] as const
  })
}

/** Consecutive rows `from` ≤ row < `to` that fall into a slot. */
export interface FilledSlot {
  slot: Slot
  weights: SlotWeights
  from: number
  to: number
}

/** Deals `rows` out to the slots in order, in proportion to what is done in each. */
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
