import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../server/config.ts'
import type { KeyChoice } from '../../server/modules/cmek/cmek-types.ts'
import { mayUseKey } from '../../server/modules/cmek/key-wrapping.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type KeyService, startVault } from './key-services.ts'
import { type ModeB, modeB, provisionPath } from './mode-b-lab.ts'

const arn = 'arn:aws:kms:eu-central-1:111122223333:key'

describe('which names a tenant may use', () => {
  const own = loadConfig({
    HUB_KMS_KEYS: `acme=${arn}/*, globex=${arn.replace('eu-central-1', '*')}/1`,
    HUB_VAULT_KEYS: 'team/transit/{tenant}.*',
  }).keyNames
  const cases: [boolean, string, KeyChoice['provider'], string, typeof own?][] = [
    [true, 'acme', 'vault', 'hub-acme'],
    [true, 'acme', 'vault', 'hub-acme_2026'],
    [false, 'acme', 'vault', 'hub-acme-eu'],
    [false, 'acme', 'vault', 'hub-acme-eu_1'],
    [false, 'acme', 'vault', 'hub-globex'],
    [false, 'acme', 'vault', 'secret/hub-acme'],
    [false, 'acme', 'vault', 'hub-acme_1/encrypt/x'],
    [true, 'acme', 'aws-kms', 'alias/hub/acme'],
    [true, 'acme', 'aws-kms', 'alias/hub/acme/2026'],
    [false, 'acme', 'aws-kms', 'alias/hub/acme/x/y'],
    [false, 'acme', 'aws-kms', 'alias/hub/globex'],
    [false, 'acme', 'aws-kms', `${arn}/1`],
    [true, 'acme', 'local', 'whatever/it/is'],
    [true, 'acme', 'aws-kms', `${arn}/1`, own],
    [false, 'globex', 'aws-kms', `${arn}/2`, own],
    [true, 'globex', 'aws-kms', `${arn}/1`, own],
    [false, 'acme', 'aws-kms', 'alias/hub/acme', own],
    [true, 'acme', 'vault', 'team/transit/acme.main', own],
    [false, 'acme', 'vault', 'team/transit/acmexmain', own],
    [false, 'acme', 'vault', 'acme.main', own],
  ]
  test.each(cases)('%s: %s names %s %s', (isAllowed, tenant, provider, key_ref, names = loadConfig({}).keyNames) =>
    expect(mayUseKey(names, tenant, { provider, key_ref })).toBe(isAllowed),
  )
})

describe('provisioning with a key of another tenant', () => {
  let vault: KeyService
  let hub: TestHub
  let victim: ModeB
  let other: ModeB
  beforeAll(async () => {
    vault = await startVault('a-token', ['transit/hub-victim', 'transit/hub-victim_2', 'secret/foo'])
    hub = await startHub({ settings: { HUB_VAULT_ADDR: vault.url, HUB_VAULT_TOKEN: 'a-token' } })
    victim = await modeB(hub, 'victim')
    other = await modeB(hub, 'other')
  })
  afterAll(async () => {
    await hub.stop()
    await vault.close()
  })
  const provision = (tenant: ModeB, key_ref: string) =>
    tenant.call('POST', provisionPath, { cmek: { provider: 'vault', key_ref } })

  test('is refused before the provider is asked, in the words of a key that nobody has', async () => {
    expect((await provision(victim, 'hub-victim')).status).toBe(200)
    const asked = vault.requests.length
    const refused = []
    for (const keyRef of ['hub-victim', 'hub-nobody', 'secret/foo']) refused.push(await provision(other, keyRef))
    expect(vault.requests).toHaveLength(asked)
    const unknown = await provision(other, 'hub-other')
    expect(vault.requests.length).toBeGreaterThan(asked)
    for (const { status, body } of [...refused, unknown]) {
      expect([status, body.errors]).toEqual([400, unknown.body.errors])
      expect(body.errors).toMatchObject([{ pointer: '/cmek/key_ref' }])
    }
  })

  test('what a tenant has keeps working, and it may take another one of its own', async () => {
    expect((await victim.call('POST', '/api/v1/hub/cmek:rotate', {})).status).toBe(200)
    expect((await provision(victim, 'hub-victim')).status).toBe(200)
    expect((await provision(victim, 'hub-victim_2')).body.cmek).toMatchObject({ key_ref: 'hub-victim_2' })
  })
})
