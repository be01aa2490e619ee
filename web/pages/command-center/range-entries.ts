import { oneOf, time } from '../../components/search-schemas.ts'
import { presets } from './ranges.ts'

/** The range and the interval in an address. */
export const rangeEntries = {
  range: oneOf([...presets, 'custom']),
  /** The custom range, in UTC. */
  from: time,
  to: time,
  /** The range to compare with, in UTC; the previous period if absent. */
  compare_from: time,
  compare_to: time,
  /** The interval; automatic if absent. */
  interval: oneOf(['hour', 'day']),
}
