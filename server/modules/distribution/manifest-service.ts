import { DomainError } from '../../../contract/domain-error.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ConnectorCredentials } from '../connectors/connectors-types.ts'
import type { SkillGrants } from '../entitlement/grants-types.ts'
import type { ProvenanceKeys } from '../keys/keys-types.ts'
import { notePull, targetById } from './deliveries-store.ts'
import type { ConnectorTester, ManifestReader } from './distribution-types.ts'
import type { AdapterOf } from './platform-adapters.ts'
import { namesTag, signedManifest, skillSetOf } from './skill-manifest.ts'

interface Deps {
  database: Database
  grants: Pick<SkillGrants, 'published'>
  credentials: ConnectorCredentials
  keys: ProvenanceKeys
  adapterOf: AdapterOf
}

export function createManifestReader({ database, grants, keys }: Deps): ManifestReader {
  return {
    fetch: (tenant, connectorId, ifNoneMatch) =>
      database.withTenant(tenant.slug, async (tx) => {
        const target = await existing(tx, connectorId)
        const set = skillSetOf(await grants.published(tx))
        // Of one that is pushed to, health tells of the pushes.
        if (target.delivery === 'pull') await notePull(tx, connectorId, set.etag)
        if (namesTag(ifNoneMatch, set.etag)) return { etag: set.etag }
        const connector = { tenant: tenant.slug, connectorId, platform: target.platform }
        const { text } = signedManifest(set, connector, await keys.signerOf(tenant.slug, tx))
        return { text, etag: set.etag }
      }),
  }
}

export function createConnectorTester(deps: Deps): ConnectorTester {
  const { database, grants, credentials, keys, adapterOf } = deps

  function prepare(tenant: Tenant, connectorId: string) {
    return database.withTenant(tenant.slug, async (tx) => {
      const target = await existing(tx, connectorId)
      try {
        const opened = await credentials.open(tx, tenant, target)
        const set = skillSetOf(await grants.published(tx))
        const connector = { tenant: tenant.slug, connectorId, platform: target.platform }
        const signed = signedManifest(set, connector, await keys.signerOf(tenant.slug, tx))
        return { target, credentials: opened, ...signed, etag: set.etag }
      } catch (error) {
        if (error instanceof DomainError) return { problem: error.message }
        throw error
      }
    })
  }

  return {
    async test(tenant, connectorId) {
      const prepared = await prepare(tenant, connectorId)
      if ('problem' in prepared) {
        return { ok: false, steps: [{ name: 'configuration', ok: false, detail: prepared.problem }] }
      }
      const { target, ...parts } = prepared
      const adapter = adapterOf({ ...target, ...parts })
      const steps = await adapter.test({
        ...parts,
        tenant: tenant.slug,
        connectorId,
        ...(target.publish_url !== null && { publishUrl: target.publish_url }),
        state: target.state,
        signal: AbortSignal.timeout(adapter.timeoutMs),
        remember: async () => {},
      })
      const configuration = {
        name: 'configuration',
        ok: true,
        detail: 'The credentials open, and the manifest is signed.',
      }
      return { ok: steps.every(({ ok }) => ok), steps: [configuration, ...steps] }
    },
  }
}

async function existing(tx: TenantTx, connectorId: string) {
  const target = await targetById(tx, connectorId)
  if (!target) throw new DomainError('not-found', 'The tenant has no connector of this id.')
  return target
}
