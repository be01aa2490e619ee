import { validationFailed } from '../../../../contract/domain-error.ts'
import { webhookAlertReadingsMax } from '../../../../contract/limits.ts'
import type { TenantTx } from '../../../db/database.ts'
import { countMetrics } from '../alerts/metric-queries.ts'
import type { WebhookState } from './webhook-changes.ts'
import { allWebhooks } from './webhooks-store.ts'

const detail =
  `would take more than ${webhookAlertReadingsMax} readings of telemetry together with the rules of the other endpoints. ` +
  'Rules share a reading where they have the same `group_by` and their endpoints the same `filters` (by skill, regardless of ' +
  '`skill_ids`; by archetype, regardless of `archetype_ids`). Use fewer different filters'

/**
 * Checks the rules of all endpoints of the tenant, with the changed one, against the limit of readings. Disabled
 * endpoints count too, because they may be enabled at any time.
 *
 * @throws DomainError `validation-failed` above the limit, if the change increases the number
 */
export async function checkReadings(
  tx: TenantTx,
  changed: Pick<WebhookState, 'alerts' | 'filters'> & { webhookId: string | undefined },
): Promise<void> {
  if (changed.alerts.length === 0) return
  const before = (await allWebhooks(tx)).map(({ webhook_id, alerts, filters }) => {
    return { webhookId: webhook_id, alerts, filters } as Pick<WebhookState, 'alerts' | 'filters'> & {
      webhookId: string
    }
  })
  const count = countMetrics([...before.filter(({ webhookId }) => webhookId !== changed.webhookId), changed])
  if (count <= webhookAlertReadingsMax || count <= countMetrics(before)) return
  throw validationFailed([{ pointer: '/alerts', detail }])
}
