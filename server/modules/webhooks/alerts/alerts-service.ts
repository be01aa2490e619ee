import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { Database } from '../../../db/database.ts'
import { openCursor, pageOf, signCursor } from '../../../http/cursor.ts'
import type { Endpoints } from '../webhooks-types.ts'
import type { AlertAdministration, AlertAnswer, AlertInstance } from './alert-types.ts'
import { alertsAfter } from './alerts-store.ts'

/** Creates the administration of alerts. A cursor is the id of the last alert of a page. */
export function createAlertAdministration(deps: {
  database: Pick<Database, 'withTenant'>
  endpoints: Pick<Endpoints, 'find'>
  cursorKey: Buffer
}): AlertAdministration {
  const { database, endpoints, cursorKey } = deps
  return {
    async list(tenant, webhookId, { limit, cursor }) {
      const binding = { tenant: tenant.slug, operation: 'listWebhookAlerts', query: { webhook_id: webhookId } }
      const after = cursor === undefined ? undefined : (openCursor(cursorKey, binding, cursor) as string)
      const episodes = await database.withTenant(
        tenant.slug,
        async (tx) => {
          await endpoints.find(tx, webhookId)
          return alertsAfter(tx, webhookId, after, limit + 1)
        },
        { readOnly: true },
      )
      const { shown, next_cursor } = pageOf(episodes, limit, (last) => signCursor(cursorKey, binding, last.alertId))
      return { items: shown.map(answerOf), next_cursor }
    },
  }
}

function answerOf({ alertId, rule, key, value, invocations, openedAt, ...episode }: AlertInstance): AlertAnswer {
  const { recoveringSinceMs, seenAtMs } = episode
  return {
    alert_id: alertId,
    metric: rule.metric,
    group_by: rule.group_by,
    key,
    value,
    threshold: rule.above,
    recovers_at: rule.recovers_at,
    window_minutes: rule.window_minutes,
    invocations,
    opened_at: openedAt,
    ...(recoveringSinceMs !== undefined && { recovering_since: formatTimestamp(recoveringSinceMs) }),
    seen_at: formatTimestamp(seenAtMs),
  }
}
