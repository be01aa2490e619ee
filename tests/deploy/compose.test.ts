import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readStorageUrl, type S3StorageSettings } from '../../server/config/storage-url.ts'
import { environmentOf, readStages, root } from './dockerfile.ts'
import { knownVariables, loadWithSecrets } from './settings.ts'

interface Service {
  image: string
  build?: { context: string; dockerfile: string }
  environment?: Record<string, string>
  secrets?: string[]
  networks: string[]
  volumes?: string[]
  ports?: string[]
  tmpfs?: string[]
  read_only?: boolean
  stop_grace_period?: string
  command?: string[]
  healthcheck?: { test: string[] }
  depends_on?: Record<string, { condition: string }>
}
const compose = parse(readFileSync(join(root, 'deploy/compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string; gateway: string }[] } } | null>
  volumes: Record<string, unknown>
  secrets: Record<string, { file: string }>
}
const services = Object.entries(compose.services)
const hubs = services.filter(([, { image }]) => image === 'org-memory-hub')
const final = readStages().at(-1)!

let folder: string
let secrets: Record<string, string>
const makeSecrets = () => execFileSync(join(root, 'deploy/make-secrets.sh'), [folder]).toString()
const readSecrets = () =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hub-compose-'))
  makeSecrets()
  secrets = readSecrets()
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Returns the environment as Compose passes it, for an operator who sets the base URL only. */
function environmentFor(service: Service): Record<string, string> {
  const filled = Object.entries(service.environment ?? {}).map(([name, value]) => [
    name,
    value.replace(/\$\{HUB_BASE_URL:\?[^}]*\}/, 'https://hub.example.com').replace(/\$\{\w+:-([^}]*)\}/, '$1'),
  ])
  return { ...environmentOf(final), ...Object.fromEntries(filled) }
}

describe('the services', () => {
  test('wait for healthy ones that they need, which exist', () => {
    for (const [name, { depends_on = {} }] of services) {
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        expect(compose.services, name).toHaveProperty(needed)
        if (condition === 'service_healthy') expect(compose.services[needed]!.healthcheck, needed).toBeDefined()
        else expect(condition).toBe('service_completed_successfully')
      }
    }
    for (const [, hub] of hubs) expect(Object.keys(hub.depends_on ?? {})).toEqual(['postgres', 'valkey', 's3-bucket'])
  })

  test('use networks, volumes and secrets that are declared', () => {
    for (const [name, service] of services) {
      for (const network of service.networks) expect(compose.networks, name).toHaveProperty(network)
      for (const volume of service.volumes ?? []) expect(compose.volumes, name).toHaveProperty(volume.split(':')[0]!)
      for (const secret of service.secrets ?? []) expect(compose.secrets, name).toHaveProperty(secret)
      const text = JSON.stringify([service.environment, service.command])
      const used = [...text.matchAll(/\/run\/secrets\/([\w-]+)/g)].map(([, secret]) => secret)
      expect([...new Set(used)].sort(), name).toEqual([...(service.secrets ?? [])].sort())
    }
  })

  test('only the Hub publishes a port, its own, and to this machine', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))
    const { HUB_PORT } = environmentOf(final)
    expect(published).toEqual([['api', `127.0.0.1:${HUB_PORT}:${HUB_PORT}`]])
    const inner = services.filter(([, { image }]) => image !== 'org-memory-hub')
    for (const [name, { networks }] of inner) expect(networks, name).toEqual(['stores'])
    expect(compose.networks.stores?.internal).toBe(true)
  })
})

describe('the Hub', () => {
  test('is built from the Dockerfile, and runs with a read-only root and a writable volume', () => {
    expect(hubs.map(([name]) => name)).toEqual(['api', 'worker'])
    for (const [, hub] of hubs) {
      expect(hub.build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' })
      expect(hub.read_only).toBe(true)
      expect(hub.tmpfs?.[0]).toMatch(/^\/tmp:/)
      expect(hub.volumes).toEqual([`hub-data:${environmentOf(final).HUB_DATA_DIR}`])
    }
  })

  test('sets only settings that exist', () => {
    const known = knownVariables()
    for (const [name, hub] of hubs) {
      expect(
        Object.keys(hub.environment ?? {}).filter((variable) => !known.has(variable)),
        name,
      ).toEqual([])
    }
  })

  test.each(hubs)('%s starts with the secrets of make-secrets.sh', (name, hub) => {
    const config = loadWithSecrets(environmentFor(hub), secrets)
    expect(config).toMatchObject({ role: name, environment: 'production', host: '0.0.0.0', port: 8080 })
    const gateway = compose.networks.outside?.ipam?.config[0]?.gateway
    expect(config.trustedProxies).toEqual([gateway])
    expect(Number.parseInt(hub.stop_grace_period ?? '', 10)).toBeGreaterThan(config.drainSeconds)
  })

  test('addresses its stores by their services, and with their passwords', () => {
    const config = loadWithSecrets(environmentFor(hubs[0]![1]), secrets)
    const database = new URL(config.databaseUrl!)
    const { POSTGRES_USER, POSTGRES_DB } = compose.services.postgres!.environment!
    expect([database.hostname, database.username, database.pathname]).toEqual([
      'postgres',
      POSTGRES_USER,
      `/${POSTGRES_DB}`,
    ])
    expect(database.password).toBe(secrets['postgres-password'])
    expect(new URL(config.valkeyUrl!).hostname).toBe('valkey')
    expect(secrets['valkey-conf']).toContain(`requirepass ${new URL(config.valkeyUrl!).password}\n`)
    const storage = readStorageUrl(config.storageUrl!) as S3StorageSettings
    expect(new URL(storage.endpoint!).hostname).toBe('s3')
    const { identities } = JSON.parse(secrets['s3-identities']!)
    expect(identities[0].credentials).toEqual([
      { accessKey: storage.credentials!.accessKeyId, secretKey: storage.credentials!.secretAccessKey },
    ])
    expect(compose.services['s3-bucket']!.command!.join()).toContain(`-name ${storage.bucket}'`)
  })
})

describe('make-secrets.sh', () => {
  test('writes the files that are declared, for the owner of the folder only', () => {
    for (const { file } of Object.values(compose.secrets)) expect(secrets).toHaveProperty(basename(file))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    // The users of the containers read them.
    for (const name of Object.keys(secrets)) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o644)
  })

  test('changes nothing when it is run again, and adds what is missing', () => {
    expect(makeSecrets()).toBe('')
    expect(readSecrets()).toEqual(secrets)
    rmSync(join(folder, 'valkey-url'))
    expect(makeSecrets().trim()).toBe(join(folder, 'valkey-url'))
    expect(readSecrets()).toEqual(secrets)
  })
})
