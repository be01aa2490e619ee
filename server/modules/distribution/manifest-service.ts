import { DomainError } from '../../../contract/domain-error.ts'
import type { TenantTx } from '../../db/database.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import { namesTag } from '../../http/request-headers.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { runConnectionTest, TestStepError } from '../../outbound/connection-test.ts'
import type { ConnectorCredentials } from '../connectors/connectors-types.ts'
import type { SkillGrants } from '../entitlement/entitlement-types.ts'
import { notePull, targetById } from './deliveries-store.ts'
import type { AdapterOf, ConnectorTester } from './distribution-types.ts'
import { signedManifest, skillSetOf } from './skill-manifest.ts'

interface Deps extends Pick<ModuleParts, 'database' | 'keys'> {
  grants: Pick<SkillGrants, 'published'>
  credentials: ConnectorCredentials
  adapterOf: AdapterOf
}

/** Reads the signed manifests of connectors. */
export class ManifestReader {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Returns the manifest of a connector as JSON, or only its etag if the caller has it. Records a publish if the
   * connector pulls and a service account calls. Throws `not-found`.
   */
  fetch(
    { tenant, sessionId }: Pick<Caller, 'tenant' | 'sessionId'>,
    connectorId: string,
    ifNoneMatch: string | undefined,
  ): Promise<{ etag: string; text?: string }> {
    const { database, grants, keys } = this.#deps
    return database.withTenant(tenant.slug, async (tx) => {
      const target = await existing(tx, connectorId)
      const set = skillSetOf(await grants.published(tx))
      // The health of a push connector is about pushes. A person who reads the manifest is no connector.
      if (target.delivery === 'pull' && sessionId === undefined) await notePull(tx, connectorId, set.etag)
      if (namesTag(ifNoneMatch, set.etag)) return { etag: set.etag }
      const connector = { tenant: tenant.slug, connectorId, platform: target.platform }
      const { text } = signedManifest(set, connector, await keys.signerOf(tenant.slug, tx))
      return { text, etag: set.etag }
    })
  }
}

export function createConnectorTester(deps: Deps): ConnectorTester {
  const { database, grants, credentials, keys, adapterOf } = deps

  function prepare(tenant: Tenant, connectorId: string) {
    return database.withTenant(tenant.slug, async (tx) => {
      const target = await existing(tx, connectorId)
      try {
        const opened = await credentials.decrypt(tx, tenant, target)
        const set = skillSetOf(await grants.published(tx))
        const connector = { tenant: tenant.slug, connectorId, platform: target.platform }
        const signed = signedManifest(set, connector, await keys.signerOf(tenant.slug, tx))
        return { target, credentials: opened, ...signed, etag: set.etag, problem: undefined }
      } catch (error) {
        if (error instanceof DomainError) return { problem: error.message }
        throw error
      }
    })
  }

  return {
    async test(tenant, connectorId) {
      const prepared = await prepare(tenant, connectorId)
      if (prepared.problem !== undefined) {
        const { problem } = prepared
        return runConnectionTest([['configuration', () => failWith(problem)]])
      }
      const { target, problem: _, ...parts } = prepared
      const adapter = adapterOf({ ...target, ...parts })
      const unused = unusedWords(Object.keys(parts.credentials), adapter.credentials)
      const steps = adapter.test({
        ...parts,
        tenant: tenant.slug,
        connectorId,
        ...(target.publish_url !== null && { publishUrl: target.publish_url }),
        state: target.state,
        signal: AbortSignal.timeout(adapter.timeoutMs),
        remember: async () => {},
      })
      return runConnectionTest([
        ['configuration', () => `The credentials can be decrypted, and the manifest is signed.${unused}`],
        ...steps,
      ])
    },
  }
}

function failWith(problem: string): never {
  throw new TestStepError(problem)
}

/** Lists credentials that are set but not sent, often because their name was guessed. */
function unusedWords(set: readonly string[], sent: readonly string[]): string {
  const unused = set.filter((name) => !sent.includes(name)).sort()
  if (unused.length === 0) return ''
  return ` The credentials ${unused.join(', ')} are not sent; supported: ${sent.join(', ')}.`
}

async function existing(tx: TenantTx, connectorId: string) {
  const target = await targetById(tx, connectorId)
  if (!target) throw new DomainError('not-found', 'The tenant has no connector with this id.')
  return target
}
