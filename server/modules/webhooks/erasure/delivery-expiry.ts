import { webhookDeliveryDays } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { TenantChore } from '../../../jobs/housekeeping.ts'
import type { RecordClock } from '../../../records/record-clock.ts'
import { deleteDeliveriesBefore, deleteRemovedBefore } from './delivery-erasure-store.ts'

const dayMs = 86_400_000
const deletedAtOnce = 1_000

/** Deletes deliveries of a certain age, regardless of their status: also those that wait for a disabled endpoint. */
export function createDeliveryExpiry(deps: { clock: RecordClock }): TenantChore {
  return {
    name: 'forget old webhook deliveries',
    async run(tx) {
      const nowMs = Math.floor(deps.clock.next().micros / 1000)
      const deleted = await deleteDeliveriesBefore(tx, nowMs - webhookDeliveryDays * dayMs, deletedAtOnce)
      return deleted === deletedAtOnce
    },
  }
}

/** Deletes the rows of removed endpoints. Until then, repeating the removal returns the first response. */
export function createRemovedExpiry(deps: { clock: RecordClock }): TenantChore {
  return {
    name: 'forget webhooks that were removed',
    async run(tx) {
      const nowMs = Math.floor(deps.clock.next().micros / 1000)
      const before = formatTimestamp(nowMs - webhookDeliveryDays * dayMs)
      return (await deleteRemovedBefore(tx, before, deletedAtOnce)) === deletedAtOnce
    },
  }
}
