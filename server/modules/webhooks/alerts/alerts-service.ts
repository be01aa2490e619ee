import type { Static } from 'typebox'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { type Database, readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { openPage, type PageRequest } from '../../../http/cursor.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import type { AlertInstance } from './alert-rules.ts'
import type { AlertList, AlertSchema } from './alerts-schemas.ts'
import { alertsAfter } from './alerts-store.ts'

/** Lists the open alerts of endpoints. */
export class AlertLists {
  readonly #deps: AlertListsDeps

  constructor(deps: AlertListsDeps) {
    this.#deps = deps
  }

  /**
   * Returns a page of open alerts, the oldest first. A cursor is the id of the last alert of a page. Throws `not-found`
   * for a missing endpoint, and `invalid-cursor`.
   */
  async list(tenant: Tenant, webhookId: string, asked: PageRequest): Promise<Static<typeof AlertList>> {
    const { database, endpoints, cursorKey } = this.#deps
    const binding = { tenant: tenant.slug, operation: 'listWebhookAlerts', query: { webhook_id: webhookId } }
    const page = openPage<string>(cursorKey, binding, asked)
    const read = async (tx: TenantTx) => {
      await endpoints.find(tx, webhookId)
      return alertsAfter(tx, webhookId, page.after, page.count)
    }
    const alerts = await readTenant(database, tenant.slug, read)
    const { shown, next_cursor } = page.of(alerts, (last) => last.alertId)
    return { items: shown.map(toResponse), next_cursor }
  }
}

interface AlertListsDeps {
  database: Pick<Database, 'withTenant'>
  endpoints: Pick<Endpoints, 'find'>
  cursorKey: Buffer
}

function toResponse({
  alertId,
  rule,
  key,
  value,
  invocations,
  openedAt,
  ...episode
}: AlertInstance): Static<typeof AlertSchema> {
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
