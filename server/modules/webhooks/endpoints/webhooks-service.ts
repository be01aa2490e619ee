import { isDeepStrictEqual } from 'node:util'
import { validationFailed } from '../../../../contract/domain-error.ts'
import { webhookHealthCountMax, webhooksMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import type { Database, TenantTx } from '../../../db/database.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { openCursor, pageOf, signCursor } from '../../../http/cursor.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { RedactedUrl } from '../../../secrets/redacted-url.ts'
import { formerSecretUntil, makeSigningSecret } from '../../../secrets/signing-secrets.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { AlertEnds } from '../alerts/alert-changes.ts'
import { lockWebhooks } from '../outbox/outbox-store.ts'
import type { WebhookAdministration, WebhookAnswer, WebhookChanges, WebhookSettings } from '../webhooks-types.ts'
import { noSuchEndpoint, type WebhookSecrets } from './endpoints.ts'
import { changedState, described, newState, stateOf, toWebhookResponse, type WebhookState } from './webhook-changes.ts'
import { checkReadings, problemsOfSettings, problemsOfWhole } from './webhook-settings.ts'
import * as store from './webhooks-store.ts'

/** Deliveries of a removed endpoint are deleted in transactions of this many. */
const deletedAtOnce = 5000

export function createWebhookAdministration(deps: {
  database: Database
  governance: GovernanceLog
  outbound: Pick<Outbound, 'problemOf'>
  secrets: WebhookSecrets
  describeUrl: (tenantId: string, url: string) => RedactedUrl
  cursorKey: Buffer
  /** Called after a commit that changed an endpoint. */
  changed: (tenantId: string) => void
  /** Called before a change after which the former address must receive nothing. */
  breakOff: (tenantId: string, webhookId: string) => void
  alertEnds: AlertEnds
}): WebhookAdministration {
  const { database, governance, outbound, secrets, cursorKey, changed, breakOff, alertEnds } = deps
  const now = () => formatTimestamp(Date.now())

  /** Runs a change while nobody else changes endpoints. */
  function locked<T>(tenant: Tenant, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return database.withTenant(
      tenant.slug,
      async (tx) => {
        await lockWebhooks(tx)
        return work(tx)
      },
      { inIndexOrder: true },
    )
  }

  async function answers(tx: TenantTx, rows: readonly store.WebhookWithProgress[]): Promise<WebhookAnswer[]> {
    if (rows.length === 0) return []
    const ids = rows.map(({ webhook_id }) => webhook_id)
    const counts = new Map(
      (await store.countOpen(tx, ids, webhookHealthCountMax)).map((each) => [each.webhook_id, each]),
    )
    return rows.map((row) => toWebhookResponse(row, counts.get(row.webhook_id)))
  }

  async function answerOf(tx: TenantTx, webhookId: string): Promise<WebhookAnswer> {
    return (await answers(tx, [await existing(tx, webhookId)]))[0]!
  }

  const describedState = (tx: TenantTx, state: WebhookState) =>
    described(state, deps.describeUrl(tx.tenantId, state.url))

  async function written(tx: TenantTx, caller: Caller, webhookId: string, details: Record<string, JsonValue>) {
    const subject = `webhook:${webhookId}`
    await governance.append(tx, caller.tenant, { kind: 'tenant.config_changed', subject, details, actor: caller })
    tx.afterCommit(() => changed(tx.tenantId))
  }

  async function add(tx: TenantTx, caller: Caller, settings: WebhookSettings): Promise<WebhookAnswer> {
    if ((await store.countWebhooks(tx)) >= webhooksMax) {
      const detail = `exceeds the ${webhooksMax} endpoints of a tenant; remove one first`
      throw validationFailed([{ pointer: '', detail }])
    }
    await checkReadings(tx, { webhookId: undefined, ...newState(settings) })
    const webhookId = `whk_${randomText(24)}`
    const secret = makeSigningSecret()
    const at = now()
    const { disabled_at: _, disabled_reason: __, ...columns } = newState(settings)
    await store.addWebhook(tx, {
      webhook_id: webhookId,
      ...columns,
      secret_sealed: await secrets.seal(tx, caller.tenant, webhookId, secret),
      created_at: at,
      created_by: caller.subject,
      updated_at: at,
    })
    const after = describedState(tx, newState(settings))
    await written(tx, caller, webhookId, { change: 'webhook_added', before: null, after })
    return { ...(await answerOf(tx, webhookId)), secret }
  }

  async function change(tx: TenantTx, caller: Caller, row: store.WebhookWithProgress, changes: WebhookChanges) {
    const at = now()
    const before = stateOf(row)
    const after = changedState(before, changes, at)
    const problems = problemsOfWhole(after)
    if (problems.length > 0) throw validationFailed(problems)
    const urlChanged = before.url !== after.url
    const [was, is] = [describedState(tx, before), describedState(tx, after)]
    if (!urlChanged && isDeepStrictEqual(was, is)) return
    await checkReadings(tx, { webhookId: row.webhook_id, ...after })
    const isEnabledAgain = before.disabled_at !== null && after.disabled_at === null
    const isDisabled = before.disabled_at === null && after.disabled_at !== null
    if (isDisabled || urlChanged) tx.afterCommit(() => breakOff(tx.tenantId, row.webhook_id))
    if (isEnabledAgain || urlChanged) await store.resetFailures(tx, row.webhook_id)
    await store.changeWebhook(tx, { webhook_id: row.webhook_id, ...after, updated_at: at })
    if (isEnabledAgain || isDisabled) await alertEnds.forgotten(tx, row.webhook_id)
    else if (after.disabled_at === null) await alertEnds.rulesChanged(tx, row.webhook_id, after.alerts)
    const details = { change: 'webhook', before: was, after: is, url_changed: urlChanged }
    await written(tx, caller, row.webhook_id, details)
  }

  return {
    furtherProblems: (sound) => problemsOfSettings(sound, outbound),

    create(caller, settings) {
      const problems = [...problemsOfSettings(settings, outbound), ...problemsOfWhole(settings)]
      if (problems.length > 0) throw validationFailed(problems)
      return locked(caller.tenant, (tx) => add(tx, caller, settings))
    },

    async list(tenant, { limit, cursor }) {
      const binding = { tenant: tenant.slug, operation: 'listWebhooks', query: {} }
      const after = cursor === undefined ? undefined : openCursor(cursorKey, binding, cursor)
      return database.withTenant(
        tenant.slug,
        async (tx) => {
          const rows = await store.webhooksAfter(tx, after as store.WebhookPosition | undefined, limit + 1)
          const { shown, next_cursor } = pageOf(rows, limit, (last) =>
            signCursor(cursorKey, binding, [last.created_at, last.webhook_id]),
          )
          return { items: await answers(tx, shown), next_cursor }
        },
        { readOnly: true, inIndexOrder: true },
      )
    },

    get: (tenant, webhookId) =>
      database.withTenant(tenant.slug, (tx) => answerOf(tx, webhookId), { readOnly: true, inIndexOrder: true }),

    update(caller, webhookId, changes) {
      const problems = problemsOfSettings(changes, outbound)
      if (problems.length > 0) throw validationFailed(problems)
      return locked(caller.tenant, async (tx) => {
        await change(tx, caller, await existing(tx, webhookId), changes)
        return answerOf(tx, webhookId)
      })
    },

    async remove(caller, webhookId) {
      const removed = await locked(caller.tenant, async (tx) => {
        const row = await store.webhookById(tx, webhookId)
        if (!row) throw noSuchEndpoint()
        if (row.removed_at !== null) return { webhook_id: webhookId, removed_at: row.removed_at }
        const at = now()
        await store.setRemoved(tx, webhookId, at)
        await alertEnds.forgotten(tx, webhookId)
        const before = describedState(tx, stateOf(row))
        tx.afterCommit(() => breakOff(tx.tenantId, webhookId))
        await written(tx, caller, webhookId, { change: 'webhook_removed', before, after: null })
        return { webhook_id: webhookId, removed_at: at }
      })
      // Nobody sees the deliveries any more, and there may be many. A crash leaves some, which expire with age.
      for (let more = true; more; ) {
        const part = (tx: TenantTx) => store.deleteDeliveries(tx, webhookId, deletedAtOnce)
        more = await database.withTenant(caller.tenant.slug, part, { inIndexOrder: true })
      }
      return removed
    },

    rotateSecret: (caller, webhookId) =>
      locked(caller.tenant, async (tx) => {
        const row = await existing(tx, webhookId)
        const secret = makeSigningSecret()
        const until = formerSecretUntil()
        await store.changeSecret(tx, {
          webhook_id: webhookId,
          secret_sealed: await secrets.seal(tx, caller.tenant, webhookId, secret),
          former_secret_sealed: row.secret_sealed,
          former_secret_until: until,
          updated_at: now(),
        })
        const after = { former_secret_until: until }
        await written(tx, caller, webhookId, { change: 'webhook_secret_rotated', after })
        return { ...(await answerOf(tx, webhookId)), secret }
      }),
  }
}

/** Returns the endpoint; throws `not-found` if it is missing or removed. */
async function existing(tx: TenantTx, webhookId: string): Promise<store.WebhookWithProgress> {
  const row = await store.webhookById(tx, webhookId)
  if (!row || row.removed_at !== null) throw noSuchEndpoint()
  return row
}
