import type { Static } from 'typebox'
import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { secretOverlapHours } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import { scimRows } from '../../../db/proven-rows.ts'
import { rowDigests } from '../../../db/row-digests.ts'
import type { ValidParts } from '../../../http/body/valid-parts.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import { constantTimeEqual } from '../../../secrets/constant-time-equal.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { InboundSecrets, RotatedInboundSecret } from '../../inbound/inbound-types.ts'
import type { GroupMapping } from '../../roster/directory/directory-types.ts'
import type { ArchetypeBundle } from '../../roster/roster-types.ts'
import type { RosterUpkeep } from '../../roster/sync/sync-types.ts'
import { pullTokenContext, type ScimConnectionCache, type ScimTokens } from './scim-connections.ts'
import type { ScimState as ScimStateSchema } from './scim-schemas.ts'
import {
  type CheckedScim,
  completed,
  type KnownPull,
  missingIn,
  problemsOfScim,
  readScim,
  type ScimSettings,
} from './scim-settings.ts'
import type { ScimSourceProblem, ScimSources } from './scim-source-types.ts'
import * as store from './scim-store.ts'

/** A stored configuration. The token of a push is present only when it is new. */
export type ScimState = Static<typeof ScimStateSchema>

interface ScimServiceDeps extends Pick<ModuleParts, 'database' | 'governance' | 'secrets'> {
  outbound: Pick<Outbound, 'problemOf'>
  inboundSecrets: InboundSecrets
  tokens: ScimTokens
  connections: ScimConnectionCache
  sources: ScimSources
  archetypes: ArchetypeBundle
  upkeep: RosterUpkeep
}

export class ScimService {
  readonly #deps: ScimServiceDeps

  constructor(deps: ScimServiceDeps) {
    this.#deps = deps
  }

  /**
   * Stores the connection of the tenant's directory; sends one request to a pulled directory first. Omitted settings
   * stay: the mapping, and for the same directory its address and token. Repeating it changes nothing and writes no
   * event. Throws `validation-failed`, or `concurrent-modification` if an omitted setting changed before it was stored.
   */
  async configure(tenant: Tenant, settings: ScimSettings, actor: Actor): Promise<ScimState> {
    const known = await readTenant(this.#deps.database, tenant.slug, (tx) => this.#knownPull(tx, tenant))
    const whole = completed(settings, known)
    const problems = [...this.problemsIn(whole), ...missingIn(whole)]
    if (problems.length > 0) throw validationFailed(problems)
    const checked = readScim(whole, { isKnown: settings.bearer_token === undefined })
    if (checked.pull) await askDirectory(this.#deps.sources, checked.pull, checked.groupArchetypeMap)
    return this.#deps.database.withTenant(tenant.slug, (tx) => this.#keep(tx, tenant, checked, actor))
  }

  /** Returns the configuration. Throws `not-found` without one. */
  get(tenant: Tenant): Promise<ScimState> {
    return readTenant(this.#deps.database, tenant.slug, async (tx) =>
      this.#stateOf(tx, tenant, await configuredScim(tx)),
    )
  }

  /** Removes the configuration; people, groups and archetypes stay. Does nothing without a configuration. */
  remove(tenant: Tenant, actor: Actor): Promise<void> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      await store.lockScim(tx)
      const row = await store.findScim(tx)
      if (!row) return
      await store.deleteScim(tx)
      await this.#deps.inboundSecrets.remove(tx, row.connection_id)
      await this.#deps.upkeep.endSyncs(tx, tenant, actor)
      const row_digests = rowDigests(tx, scimRows, null)
      const details = { change: 'scim_removed', before: describe(row), after: null, row_digests }
      await this.#append(tx, tenant, actor, { kind: 'tenant.config_changed', connectionId: row.connection_id, details })
    })
  }

  /**
   * Rotates the token; the previous one is valid for another day. Throws `not-found`, or `concurrent-modification` in
   * pull mode.
   */
  rotateToken(tenant: Tenant, actor: Actor): Promise<ScimState> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      await store.lockScim(tx)
      const row = await configuredScim(tx)
      if (row.mode === 'pull') {
        throw new DomainError(
          'concurrent-modification',
          'The Hub reads this directory with a token of the directory. Create another token there, and set it ' +
            'with POST /api/v1/identity/scim/configure.',
        )
      }
      const token = this.#deps.tokens.make()
      const until = formatTimestamp(Date.now() + secretOverlapHours * 3_600_000)
      const rotated = await store.putScim(tx, {
        ...row,
        token_hash: this.#deps.tokens.hash(tenant, token),
        former_token_hash: row.token_hash,
        former_token_until: until,
        updated_at: this.#now(),
      })
      const digests = {
        row_digests: rowDigests(tx, scimRows, rotated),
        former_row_digests: rowDigests(tx, scimRows, row),
      }
      const details = { change: 'scim_token_rotated', after: { former_token_until: until }, ...digests }
      await this.#append(tx, tenant, actor, { kind: 'tenant.config_changed', connectionId: row.connection_id, details })
      return { ...(await this.#stateOf(tx, tenant, rotated)), bearer_token: token }
    })
  }

  /** Rotates the secret for inbound messages. Throws `not-found`. */
  rotateInboundSecret(tenant: Tenant, actor: Actor): Promise<RotatedInboundSecret> {
    return this.#deps.database.withTenant(tenant.slug, async (tx) => {
      await store.lockScim(tx)
      const { connection_id: connectionId } = await configuredScim(tx)
      const rotated = await this.#deps.inboundSecrets.rotate(tx, tenant, connectionId, 'scim')
      const { former_secret_until: until } = rotated
      const after = { ...(until !== undefined && { former_secret_until: until }) }
      const details = { change: 'scim_inbound_secret_rotated', after }
      await this.#append(tx, tenant, actor, { kind: 'tenant.config_changed', connectionId, details })
      return rotated
    })
  }

  /** Returns the archetypes that the mapping names but the bundle lacks. */
  async unknownArchetypes(tx: TenantTx): Promise<string[]> {
    return this.#unknownIn(tx, (await store.findScim(tx))?.group_archetype_map ?? [])
  }

  #now() {
    return formatTimestamp(Date.now())
  }

  async #append(tx: TenantTx, tenant: Tenant, actor: Actor, event: Change): Promise<void> {
    const { kind, connectionId, details } = event
    await this.#deps.governance.append(tx, tenant, { kind, subject: `connection:${connectionId}`, details, actor })
    tx.afterCommit(() => this.#deps.connections.forget(tenant.slug))
  }

  async #unknownIn(tx: TenantTx, mapping: readonly GroupMapping[]): Promise<string[]> {
    if (mapping.length === 0) return []
    const bundle = await this.#deps.archetypes.allIds(tx)
    const named = new Set(mapping.map(({ archetype_id: archetypeId }) => archetypeId))
    return [...named].filter((archetypeId) => !bundle.has(archetypeId))
  }

  async #stateOf(tx: TenantTx, tenant: Tenant, row: store.ScimRow): Promise<ScimState> {
    const unknown = await this.#unknownIn(tx, row.group_archetype_map)
    return { ...storedState(tenant, row), ...(unknown.length > 0 && { unknown_archetypes: unknown }) }
  }

  async #knownPull(tx: TenantTx, tenant: Tenant): Promise<KnownPull | undefined> {
    const row = await store.findScim(tx)
    if (row?.mode !== 'pull' || row.base_url === null) return undefined
    return { baseUrl: row.base_url, bearerToken: await this.#deps.connections.pullTokenOf(tx, tenant) }
  }

  /** Returns the problems of settings that are visible without a request to the directory. */
  problemsIn(settings: ValidParts<ScimSettings>): PointedError[] {
    return problemsOfScim(settings, this.#deps.outbound)
  }

  async #isSamePull(tx: TenantTx, tenant: Tenant, row: store.ScimRow, token: string): Promise<boolean> {
    if (row.bearer_token_sealed === null) return false
    const context = pullTokenContext(row.connection_id)
    const known = await this.#deps.secrets.decrypt(tx, tenant, row.bearer_token_sealed, context)
    return known !== undefined && constantTimeEqual(known, token)
  }

  async #keep(tx: TenantTx, tenant: Tenant, settings: CheckedScim, actor: Actor): Promise<ScimState> {
    await store.lockScim(tx)
    const current = await store.findScim(tx)
    const connectionId = current?.connection_id ?? `scim_${randomText(24)}`
    const mapping = settings.groupArchetypeMap ?? current?.group_archetype_map ?? []
    const { pull } = settings
    const sameMode = current?.mode === settings.mode
    const sameToken =
      sameMode && (pull === undefined || (await this.#isSamePull(tx, tenant, current, pull.bearerToken)))
    const sameUrl = current?.base_url === (pull?.baseUrl ?? null)
    if (pull?.isKnown && !(sameUrl && sameToken)) throw changedMeanwhile()
    const sameMapping = JSON.stringify(current?.group_archetype_map) === JSON.stringify(mapping)
    if (current && sameToken && sameUrl && sameMapping) return this.#stateOf(tx, tenant, current)

    const token = pull === undefined && !sameMode ? this.#deps.tokens.make() : undefined
    const at = this.#now()
    const row = await store.putScim(tx, {
      connection_id: connectionId,
      mode: settings.mode,
      base_url: pull?.baseUrl ?? null,
      bearer_token_sealed: pull
        ? await this.#deps.secrets.encrypt(tx, tenant, pull.bearerToken, pullTokenContext(connectionId))
        : null,
      token_hash: token ? this.#deps.tokens.hash(tenant, token) : pull ? null : (current?.token_hash ?? null),
      former_token_hash: sameMode ? current.former_token_hash : null,
      former_token_until: sameMode ? current.former_token_until : null,
      group_archetype_map: mapping,
      created_at: current?.created_at ?? at,
      updated_at: at,
    })
    const { details, ...change } = changeOf(current, row, { tokenChanged: !sameToken })
    const digests = {
      row_digests: rowDigests(tx, scimRows, row),
      ...(current && { former_row_digests: rowDigests(tx, scimRows, current) }),
    }
    await this.#append(tx, tenant, actor, { ...change, details: { ...details, ...digests } })
    if (current && !(sameMode && sameUrl)) await this.#deps.upkeep.endSyncs(tx, tenant, actor)
    if (!sameMapping && (current || mapping.length > 0)) await this.#deps.upkeep.settle(tx, tenant, actor)
    const inbound = current ? undefined : await this.#deps.inboundSecrets.make(tx, tenant, connectionId, 'scim')
    return {
      ...(await this.#stateOf(tx, tenant, row)),
      ...(token && { bearer_token: token }),
      ...(inbound && { inbound: { connection_id: connectionId, secret: inbound } }),
    }
  }
}

interface Change {
  kind: 'connector.added' | 'tenant.config_changed'
  connectionId: string
  details: Record<string, JsonValue>
}

function changeOf(before: store.ScimRow | undefined, after: store.ScimRow, { tokenChanged = false }): Change {
  const connectionId = after.connection_id
  if (!before) {
    return {
      kind: 'connector.added',
      connectionId,
      details: { kind: 'scim_idp', protocol: 'scim', ...describe(after) },
    }
  }
  const states = { before: describe(before), after: describe(after), bearer_token_changed: tokenChanged }
  return { kind: 'tenant.config_changed', connectionId, details: { change: 'scim', ...states } }
}

/**
 * Requests one user, and one group if there is a mapping. Throws `validation-failed` with the pointer of the faulty
 * setting.
 */
async function askDirectory(
  sources: ScimSources,
  pull: { baseUrl: string; bearerToken: string },
  mapping: readonly GroupMapping[] = [],
): Promise<void> {
  const source = sources.open(pull.baseUrl, pull.bearerToken)
  for (const resource of ['Users', 'Groups'] as const) {
    if (resource === 'Groups' && mapping.length === 0) return
    const answer = await source.page(resource, { startIndex: 1, count: 1, withoutMembers: resource === 'Groups' })
    // The sync reports an entry that is too large for one response.
    if (!answer.ok && answer.problem.kind !== 'too-large') throw validationFailed([errorOf(resource, answer.problem)])
  }
}

function errorOf(resource: 'Users' | 'Groups', { kind, status, detail }: ScimSourceProblem): PointedError {
  if (resource === 'Groups' && status === 404) {
    const words = 'names groups, and the directory serves none: GET /Groups answers 404. Have it serve groups'
    return { pointer: '/group_archetype_map', detail: `${words}, or leave the map out.` }
  }
  if (kind === 'token') return { pointer: '/bearer_token', detail: `is not accepted. ${detail}` }
  return { pointer: '/base_url', detail: `cannot be used. ${detail}` }
}

function changedMeanwhile(): DomainError {
  return new DomainError(
    'concurrent-modification',
    'The configuration was changed by another request. See GET /api/v1/identity/scim/configure, and configure it ' +
      'again.',
  )
}

/** Returns the configuration. Throws `not-found` without one. */
export async function configuredScim(tx: TenantTx): Promise<store.ScimRow> {
  const row = await store.findScim(tx)
  if (row) return row
  const hint = 'Configure it with POST /api/v1/identity/scim/configure.'
  throw new DomainError('not-found', `This tenant has no SCIM provisioning. ${hint}`)
}

function describe(row: store.ScimRow) {
  return {
    connection_id: row.connection_id,
    mode: row.mode,
    ...(row.base_url !== null && { base_url: row.base_url }),
    group_archetype_map: row.group_archetype_map.map(({ group, archetype_id }) => ({ group, archetype_id })),
  }
}

export function scimBaseUrl(tenant: Tenant): string {
  return `${tenant.baseUrl}/scim/v2/${tenant.slug}`
}

function storedState(tenant: Tenant, row: store.ScimRow): ScimState {
  const isOverlapping = row.former_token_until !== null && formatTimestamp(Date.now()) < row.former_token_until
  return {
    ...describe(row),
    scim_base_url: scimBaseUrl(tenant),
    inbound: { connection_id: row.connection_id },
    ...(isOverlapping && row.former_token_until !== null && { former_token_until: row.former_token_until }),
    ...(row.mode === 'push' && row.last_request_at !== null && { last_request_at: row.last_request_at }),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
