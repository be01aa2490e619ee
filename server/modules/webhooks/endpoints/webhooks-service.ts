import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { webhookHealthCountMax, webhooksMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { ValidParts } from '../../../http/body/valid-parts.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import { openPage, type PageRequest } from '../../../http/cursor.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { RedactedUrl } from '../../../secrets/redacted-url.ts'
import { formerSecretUntil, makeSigningSecret } from '../../../secrets/signing-secrets.ts'
import type { AlertEnds } from '../alerts/alert-changes.ts'
import { lockWebhooks } from '../outbox/outbox-store.ts'
import type { WebhookChanges, WebhookResponse, WebhookSettings } from '../webhooks-types.ts'
import { noSuchEndpoint, type WebhookSecrets } from './endpoints.ts'
import { changedState, described, newState, stateOf, toWebhookResponse } from './webhook-changes.ts'
import { checkReadings, problemsOfSettings, problemsOfWhole } from './webhook-settings.ts'
import type { RemovedWebhook, WebhookList } from './webhooks-schemas.ts'
import * as store from './webhooks-store.ts'

/** Deliveries of a removed endpoint are deleted in transactions of this many. */
const deletedAtOnce = 5000

/** Administers endpoints. All methods throw `not-found` for a missing or removed endpoint. */
export class WebhookAdministration {
  readonly #deps: WebhookAdministrationDeps

  constructor(deps: WebhookAdministrationDeps) {
    this.#deps = deps
  }

  /** Returns further problems of settings that already have invalid parts. */
  furtherProblems(sound: ValidParts<WebhookSettings>): PointedError[] {
    return problemsOfSettings(sound, this.#deps.outbound)
  }

  async create(caller: Caller, settings: WebhookSettings): Promise<WebhookResponse> {
    const problems = [...problemsOfSettings(settings, this.#deps.outbound), ...problemsOfWhole(settings)]
    if (problems.length > 0) throw validationFailed(problems)
    return this.#locked(caller.tenant, (tx) => this.#add(tx, caller, settings))
  }

  async list(tenant: Tenant, asked: PageRequest): Promise<Static<typeof WebhookList>> {
    const binding = { tenant: tenant.slug, operation: 'listWebhooks', query: {} }
    const page = openPage<store.WebhookPosition>(this.#deps.cursorKey, binding, asked)
    return this.#read(tenant, async (tx) => {
      const rows = await store.webhooksAfter(tx, page.after, page.count)
      const { shown, next_cursor } = page.of(rows, (last) => [last.created_at, last.webhook_id])
      return { items: await answers(tx, shown), next_cursor }
    })
  }

  get(tenant: Tenant, webhookId: string): Promise<WebhookResponse> {
    return this.#read(tenant, (tx) => toResponse(tx, webhookId))
  }

  async update(caller: Caller, webhookId: string, changes: WebhookChanges): Promise<WebhookResponse> {
    const problems = problemsOfSettings(changes, this.#deps.outbound)
    if (problems.length > 0) throw validationFailed(problems)
    return this.#locked(caller.tenant, async (tx) => {
      await this.#change(tx, caller, await existing(tx, webhookId), changes)
      return toResponse(tx, webhookId)
    })
  }

  /** Removes an endpoint and its deliveries. Repeating it returns the same response. */
  async remove(caller: Caller, webhookId: string): Promise<Static<typeof RemovedWebhook>> {
    const removed = await this.#locked(caller.tenant, async (tx) => {
      const row = await store.webhookById(tx, webhookId)
      if (!row) throw noSuchEndpoint()
      if (row.removed_at !== null) return { webhook_id: webhookId, removed_at: row.removed_at }
      const at = now()
      await store.setRemoved(tx, webhookId, at)
      await this.#deps.alertEnds.forgotten(tx, webhookId)
      tx.afterCommit(() => this.#deps.breakOff(tx.tenantId, webhookId))
      const before = this.#described(tx, stateOf(row))
      await this.#written(tx, caller, webhookId, { change: 'webhook_removed', before, after: null })
      return { webhook_id: webhookId, removed_at: at }
    })
    // Nobody sees the deliveries any more, and there may be many. A crash leaves some, which expire with age.
    for (let more = true; more; ) {
      const part = (tx: TenantTx) => store.deleteDeliveries(tx, webhookId, deletedAtOnce)
      more = await this.#deps.database.withTenant(caller.tenant.slug, part, { inIndexOrder: true })
    }
    return removed
  }

  rotateSecret(caller: Caller, webhookId: string): Promise<WebhookResponse> {
    return this.#locked(caller.tenant, async (tx) => {
      const row = await existing(tx, webhookId)
      const secret = makeSigningSecret()
      const until = formerSecretUntil()
      await store.changeSecret(tx, {
        webhook_id: webhookId,
        secret_sealed: await this.#deps.secrets.encrypt(tx, caller.tenant, webhookId, secret),
        former_secret_sealed: row.secret_sealed,
        former_secret_until: until,
        updated_at: now(),
      })
      const after = { former_secret_until: until }
      await this.#written(tx, caller, webhookId, { change: 'webhook_secret_rotated', after })
      return { ...(await toResponse(tx, webhookId)), secret }
    })
  }

  /** Runs a change while nobody else changes endpoints. */
  #locked<T>(tenant: Tenant, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    const run = async (tx: TenantTx) => {
      await lockWebhooks(tx)
      return work(tx)
    }
    return this.#deps.database.withTenant(tenant.slug, run, { inIndexOrder: true })
  }

  #read<T>(tenant: Tenant, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return readTenant(this.#deps.database, tenant.slug, work, { inIndexOrder: true })
  }

  async #add(tx: TenantTx, caller: Caller, settings: WebhookSettings): Promise<WebhookResponse> {
    if ((await store.countWebhooks(tx)) >= webhooksMax) {
      const detail = `exceeds the ${webhooksMax} endpoints of a tenant; remove one first`
      throw validationFailed([{ pointer: '', detail }])
    }
    await checkReadings(tx, { webhookId: undefined, ...newState(settings) })
    const webhookId = `whk_${randomText(24)}`
    const secret = makeSigningSecret()
    const at = now()
    const state = newState(settings)
    await store.addWebhook(tx, {
      webhook_id: webhookId,
      ...state,
      secret_sealed: await this.#deps.secrets.encrypt(tx, caller.tenant, webhookId, secret),
      created_at: at,
      created_by: caller.subject,
      updated_at: at,
    })
    const after = this.#described(tx, state)
    await this.#written(tx, caller, webhookId, { change: 'webhook_added', before: null, after })
    return { ...(await toResponse(tx, webhookId)), secret }
  }

  async #change(tx: TenantTx, caller: Caller, row: store.WebhookWithProgress, changes: WebhookChanges): Promise<void> {
    const { alertEnds, breakOff } = this.#deps
    const at = now()
    const before = stateOf(row)
    const after = changedState(before, changes, at)
    const problems = problemsOfWhole(after)
    if (problems.length > 0) throw validationFailed(problems)
    const urlChanged = before.url !== after.url
    const [was, is] = [this.#described(tx, before), this.#described(tx, after)]
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
    await this.#written(tx, caller, row.webhook_id, details)
  }

  #described(tx: TenantTx, state: store.WebhookState): Record<string, JsonValue> {
    return described(state, this.#deps.describeUrl(tx.tenantId, state.url))
  }

  async #written(tx: TenantTx, caller: Caller, webhookId: string, details: Record<string, JsonValue>): Promise<void> {
    const { governance, changed } = this.#deps
    const subject = `webhook:${webhookId}`
    await governance.append(tx, caller.tenant, { kind: 'tenant.config_changed', subject, details, actor: caller })
    tx.afterCommit(() => changed(tx.tenantId))
  }
}

export interface WebhookAdministrationDeps extends Pick<ModuleParts, 'database' | 'governance' | 'cursorKey'> {
  outbound: Pick<Outbound, 'problemOf'>
  secrets: WebhookSecrets
  describeUrl: (tenantId: string, url: string) => RedactedUrl
  /** Called after a commit that changed an endpoint. */
  changed: (tenantId: string) => void
  /** Called before a change after which the former address must receive nothing. */
  breakOff: (tenantId: string, webhookId: string) => void
  alertEnds: Pick<AlertEnds, 'rulesChanged' | 'forgotten'>
}

function now(): string {
  return formatTimestamp(Date.now())
}

async function answers(tx: TenantTx, rows: readonly store.WebhookWithProgress[]): Promise<WebhookResponse[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ webhook_id }) => webhook_id)
  const counts = new Map((await store.countOpen(tx, ids, webhookHealthCountMax)).map((each) => [each.webhook_id, each]))
  return rows.map((row) => toWebhookResponse(row, counts.get(row.webhook_id)))
}

async function toResponse(tx: TenantTx, webhookId: string): Promise<WebhookResponse> {
  return (await answers(tx, [await existing(tx, webhookId)]))[0]!
}

/** Returns the endpoint; throws `not-found` if it is missing or removed. */
async function existing(tx: TenantTx, webhookId: string): Promise<store.WebhookWithProgress> {
  const row = await store.webhookById(tx, webhookId)
  if (!row || row.removed_at !== null) throw noSuchEndpoint()
  return row
}
