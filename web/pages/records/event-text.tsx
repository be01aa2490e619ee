import type { HubRecord } from '../../api/hub-record.ts'
import { describeEvent } from '../governance/event-labels.ts'
import { governanceEventOf } from '../governance/governance-event.ts'

/** Shows a governance event as text beside its title. A part of its own, because only these rows need the labels. */
export default function EventText({ record }: { record: HubRecord }) {
  const said = describeEvent(governanceEventOf(record))
  return said && ` · ${said}`
}
