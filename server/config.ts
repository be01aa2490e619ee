import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exportQuotaMax } from '../contract/limits.ts'
import { readCheckpointSinks } from './config/checkpoint-sink.ts'
import { readKeyNameRules, readKeyringDirectory, readVault } from './config/customer-keys.ts'
import { defaultDataDirectory } from './config/data-directory.ts'
import { readOpenTelemetry } from './config/open-telemetry.ts'
import { SettingReader } from './config/setting-reader.ts'
import { readSmtpUrl } from './config/smtp-url.ts'
import { readAwsSettings, readStorageUrl } from './config/storage-url.ts'
import { ConfigError } from './startup-error.ts'

const environments = ['development', 'staging', 'production'] as const
type Environment = (typeof environments)[number]
const roles = ['all', 'api', 'worker'] as const
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** The settings that flags of the command line override. */
export interface ConfigOverrides {
  readonly port?: string | number | undefined
  readonly host?: string | undefined
  readonly dataDir?: string | undefined
  readonly role?: string | undefined
  readonly workers?: string | number | undefined
}

const checkout = dirname(dirname(fileURLToPath(import.meta.url)))

/** Holds every setting of the service. It is created once, frozen and passed down. */
export type Config = Readonly<ReturnType<typeof readSettings>>

/**
 * Reads the configuration. No other code reads the process environment.
 *
 * @throws ConfigError with every problem found, not only the first.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env, overrides: ConfigOverrides = {}): Config {
  const reader = new SettingReader(env)
  const config = readSettings(reader, overrides)
  if (reader.problems.length > 0) throw new ConfigError(reader.problems)
  return Object.freeze(config)
}

function readSettings(reader: SettingReader, overrides: ConfigOverrides) {
  const environment = reader.choice(reader.source('HUB_ENV'), environments, 'development')
  const host = readHost(reader, environment, overrides.host)
  const port = reader.integer(
    reader.source('HUB_PORT', { name: '--port', value: overrides.port }),
    { min: 0, max: 65535 },
    8080,
  )
  const baseUrl = readBaseUrl(reader, environment)
  const dataDirSource = reader.source('HUB_DATA_DIR', { name: '--data-dir', value: overrides.dataDir })
  const dataDir = dataDirSource ? resolve(dataDirSource.text) : defaultDataDirectory(checkout, process.getuid?.() === 0)
  return {
    /** The version in package.json. */
    version: packageVersion(),
    environment,
    /** The work of this process: requests, background jobs, or both. */
    role: reader.choice(reader.source('HUB_ROLE', { name: '--role', value: overrides.role }), roles, 'all'),
    /** Number of processes that answer requests; 1 means one process for everything. */
    workers: reader.integer(
      reader.source('HUB_WORKERS', { name: '--workers', value: overrides.workers }),
      { min: 1, max: 64 },
      1,
    ),
    host,
    /** The port; 0 lets the system choose (see `withListeningPort`). */
    port,
    /** The address that clients use, without a trailing slash. */
    baseUrl: baseUrl ?? localUrl(host, port),
    /** Whether `baseUrl` was set instead of derived from host and port. */
    baseUrlConfigured: baseUrl !== undefined,
    browserUrl: readBrowserUrl(reader, environment, baseUrl) ?? baseUrl ?? localUrl(host, port),
    /** The absolute path. */
    dataDir,
    /** Whether the directory was named explicitly. Its parents then belong to the operator and are left unchanged. */
    dataDirConfigured: dataDirSource !== undefined,
    /** The URL of an external database as its owner, or of a pooler before it; undefined means the embedded server. */
    databaseUrl: reader.url(
      'HUB_DATABASE_URL',
      ['postgresql', 'postgres'],
      'postgresql://hub_owner:password@db.example.com/hub',
    ),
    databaseDirectUrl: readFurtherUrl(
      reader,
      'HUB_DATABASE_DIRECT_URL',
      'Set HUB_DATABASE_URL to the pooler, or to the database.',
    ),
    /** The URL of a streaming standby of the database; undefined means that the primary answers every read. */
    databaseReadUrl: readFurtherUrl(
      reader,
      'HUB_DATABASE_READ_URL',
      'Set HUB_DATABASE_URL to the primary. The embedded database has no replica.',
    ),
    /** Connections of the application role for all workers together. The insert-only role has half as many. */
    databasePoolSize: reader.integer(reader.source('HUB_DATABASE_POOL'), { min: 2, max: 1000 }, 20),
    /** The key, 32 bytes; undefined means the key file of the data directory. */
    masterKey: readMasterKey(reader, environment),
    trustedProxies: reader.networks('HUB_TRUSTED_PROXIES', { hosts: false }),
    outboundAllow: reader.networks('HUB_OUTBOUND_ALLOW', { hosts: true }),
    valkeyUrl: reader.url('HUB_VALKEY_URL', ['redis', 'rediss', 'valkey', 'valkeys'], 'redis://cache.example.com:6379'),
    storageUrl: reader.checked(
      'HUB_STORAGE_URL',
      readStorageUrl,
      's3://bucket/prefix?region=eu-central-1 or file:///var/lib/hub/storage',
    ),
    /** Settings for a storage in a bucket that its URL does not contain. */
    aws: readAwsSettings((variable) => reader.text(variable)),
    /**
     * The absolute path of the local keyring with the keys of Mode B tenants; undefined means a folder of the data
     * directory.
     */
    keyringDir: readKeyringDirectory(reader),
    /** The Vault whose transit engine holds keys of Mode B tenants; undefined means that none does. */
    vault: readVault(reader, environment),
    /** Rules for the keys that tenants may name. */
    keyNames: readKeyNameRules(reader),
    /** The checkpoint sinks, apart from the database. Default: a folder of the data directory. */
    checkpointSinks: readSinks(reader, environment, dataDir),
    smtpUrl: reader.checked('HUB_SMTP_URL', readSmtpUrl, 'smtps://user:password@mail.example.com?from=hub@example.com'),
    operatorToken: readOperatorToken(reader, environment),
    /** The factor for every rate limit. */
    limitFactor: reader.factor(reader.source('HUB_LIMIT_FACTOR'), 1),
    drainSeconds: reader.integer(reader.source('HUB_DRAIN_SECONDS'), { min: 0, max: 3600 }, 25),
    /** Seconds for the body of a request, in addition to those for its size. */
    bodySeconds: reader.integer(reader.source('HUB_BODY_SECONDS'), { min: 1, max: 120 }, 20),
    /** Maximum number of open connections of one address; trusted proxies have no limit. */
    connectionsPerAddress: reader.integer(
      reader.source('HUB_CONNECTIONS_PER_ADDRESS'),
      { min: 1, max: 1_000_000 },
      512,
    ),
    /** Free space of a disk, in MiB, below which exports and backups are refused. */
    diskFreeMinMb: reader.integer(reader.source('HUB_DISK_FREE_MIN_MB'), { min: 0, max: 1_000_000 }, 512),
    /** Maximum number of exports that a tenant may request within 24 hours. */
    exportsPerDay: reader.integer(reader.source('HUB_EXPORTS_PER_DAY'), { min: 1, max: exportQuotaMax.perDay }, 200),
    /** Maximum size of all export files of a tenant, in MiB. */
    exportMbKept: reader.integer(reader.source('HUB_EXPORT_MB_KEPT'), { min: 1, max: exportQuotaMax.mbKept }, 10_240),
    /** The local port on which `hub serve` shows metrics; 0 lets the system choose, undefined means none. */
    metricsPort: readMetricsPort(reader),
    /** Whether `metricsPort` was set. The start then fails if the port is already in use. */
    metricsPortConfigured: reader.text('HUB_METRICS_PORT') !== undefined,
    logLevel: reader.choice(reader.source('HUB_LOG_LEVEL'), logLevels, 'info'),
    /** Milliseconds from which a statement of the database is logged; 0 logs none. */
    slowQueryMs: reader.integer(reader.source('HUB_SLOW_QUERY_MS'), { min: 0, max: 600_000 }, 1_000),
    /** The signals that are exported to an OTLP receiver. */
    openTelemetry: readOpenTelemetry(reader),
  }
}

/** Reads another address of the database that `HUB_DATABASE_URL` names. */
function readFurtherUrl(reader: SettingReader, variable: string, remedy: string): string | undefined {
  const url = reader.url(variable, ['postgresql', 'postgres'], 'postgresql://hub_owner:password@db.example.com/hub')
  if (url !== undefined && reader.text('HUB_DATABASE_URL') === undefined) {
    reader.report(variable, 'is set without HUB_DATABASE_URL.', remedy)
  }
  return url
}

/**
 * Returns the configuration with the port that `HUB_PORT=0` left open, and with the default base URL that depends on
 * it.
 */
export function withListeningPort(config: Config, port: number): Config {
  const baseUrl = config.baseUrlConfigured ? config.baseUrl : localUrl(config.host, port)
  const browserUrl = config.browserUrl === config.baseUrl ? baseUrl : config.browserUrl
  return Object.freeze({ ...config, port, baseUrl, browserUrl })
}

function readHost(reader: SettingReader, environment: Environment, flag: string | undefined): string {
  const source = reader.source('HUB_HOST', { name: '--host', value: flag })
  if (!source) return '127.0.0.1'
  const host = source.text.replace(/^\[(.*)\]$/, '$1')
  if (environment === 'development' && !isLoopback(host)) {
    reader.report(
      source.variable,
      `is "${source.text}", but in development the Hub only listens on this machine.`,
      'Use 127.0.0.1, ::1 or localhost, or set HUB_ENV=staging or HUB_ENV=production.',
    )
  }
  return host
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}

function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

function readBaseUrl(reader: SettingReader, environment: Environment): string | undefined {
  const httpsOnly = environment !== 'development'
  if (httpsOnly && reader.text('HUB_BASE_URL') === undefined) {
    reader.report(
      'HUB_BASE_URL',
      `is not set, and ${environment} has no default.`,
      'Set it to the https address at which clients reach the Hub, such as https://hub.example.com',
    )
  }
  return reader.origin('HUB_BASE_URL', { httpsOnly })
}

function readBrowserUrl(
  reader: SettingReader,
  environment: Environment,
  baseUrl: string | undefined,
): string | undefined {
  const browserUrl = reader.origin('HUB_BROWSER_URL', { httpsOnly: environment !== 'development' })
  if (browserUrl && baseUrl && !isSameSite(new URL(browserUrl), new URL(baseUrl))) {
    reader.report(
      'HUB_BROWSER_URL',
      `is on another site than HUB_BASE_URL (${baseUrl}), so the session cookie would not reach the API.`,
      'Use the same host, or hosts under one domain, with the same scheme.',
    )
  }
  return browserUrl
}

/**
 * Compares scheme and last two labels, as SameSite does. A public suffix of two labels passes too, but the check
 * suffices to catch a mistake.
 */
function isSameSite(a: URL, b: URL): boolean {
  if (a.protocol !== b.protocol) return false
  if (a.hostname === b.hostname) return true
  const site = (host: string) => host.split('.').slice(-2).join('.')
  return isIP(a.hostname) === 0 && a.hostname.includes('.') && site(a.hostname) === site(b.hostname)
}

function readSinks(reader: SettingReader, environment: Environment, dataDir: string) {
  return (
    reader.parsed(
      'HUB_CHECKPOINT_SINK',
      (text) => readCheckpointSinks(text, { httpsOnly: environment !== 'development' }),
      'file:///mnt/elsewhere/hub-checkpoints,https://keeper.example.com/checkpoints or off',
    ) ?? Object.freeze([{ kind: 'file' as const, directory: resolve(dataDir, 'checkpoints') }])
  )
}

function readMasterKey(reader: SettingReader, environment: Environment): Buffer | undefined {
  const text = reader.text('HUB_MASTER_KEY')
  const fix = 'Generate one with: openssl rand -base64 32'
  if (text === undefined) {
    if (environment === 'production' && !reader.isSet('HUB_MASTER_KEY')) {
      reader.report('HUB_MASTER_KEY', 'is not set, but is required in production.', fix)
    }
    return undefined
  }
  const key = Buffer.from(text, 'base64')
  if (key.length === 32 && key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')) return key
  reader.report('HUB_MASTER_KEY', 'is not the base64 of 32 bytes.', fix)
  return undefined
}

function readOperatorToken(reader: SettingReader, environment: Environment): string | undefined {
  const token = reader.text('HUB_OPERATOR_TOKEN')
  if (token === undefined) return undefined
  const lengthMin = environment === 'development' ? 8 : 32
  if (token.length < lengthMin || !/^[\x21-\x7e]+$/.test(token)) {
    reader.report(
      'HUB_OPERATOR_TOKEN',
      `is shorter than ${lengthMin} characters, or has spaces or characters outside ASCII.`,
      'Generate one with: openssl rand -hex 32',
    )
  }
  return token
}

function readMetricsPort(reader: SettingReader): number | undefined {
  const source = reader.source('HUB_METRICS_PORT')
  if (source?.text === 'off') return undefined
  if (source && !/^\d{1,5}$/.test(source.text)) {
    reader.report('HUB_METRICS_PORT', `is "${source.text}".`, 'Use a port from 0 to 65535, or off.')
    return undefined
  }
  return reader.integer(source, { min: 0, max: 65535 }, 9464)
}

export function packageVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(resolve(checkout, 'package.json'), 'utf8'))
  return manifest.version
}
