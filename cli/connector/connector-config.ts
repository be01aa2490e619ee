import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { patterns, patternWords } from '../../contract/literals.ts'
import { SettingReader } from '../../server/config/setting-reader.ts'
import { isLoopbackHost } from '../../server/http/request-headers.ts'
import { ConfigError } from '../../server/startup-error.ts'
import { exposesSecrets } from '../hub-address.ts'

const connectorPortDefault = 8090
const spoolMibDefault = 1024
const spoolMibMax = 1_000_000
const sharedSecretLengthMin = 32
const retryMaxSecondsDefault = 60

/** Flags of the command line; each overrides its variable. */
export interface ConnectorFlags {
  hubUrl?: string
  hubMoved?: boolean
  tenant?: string
  host?: string
  port?: string
  spool?: string
  spoolMaxMib?: string
  retryMaxSeconds?: string
}

export type ConnectorConfig = ReturnType<typeof loadConnectorConfig>

const secretVariable = 'HUB_CONNECTOR_SHARED_SECRET'
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/**
 * Reads flags and environment. Secrets come from the environment or a file only: every process of the machine can read
 * a command line.
 *
 * @throws ConfigError with all problems together
 */
export function loadConnectorConfig(env: NodeJS.ProcessEnv, flags: ConnectorFlags) {
  const reader = new SettingReader({ ...env, ...(flags.hubUrl === undefined ? {} : { '--hub-url': flags.hubUrl }) })
  const hubUrl = readHubUrl(reader, flags)
  const tenant = readTenant(reader, flags)
  const clientId = readClientId(reader)
  const clientSecret = readSecret(reader, 'HUB_CONNECTOR_CLIENT_SECRET')
  if (clientSecret === undefined) {
    reader.report(
      'HUB_CONNECTOR_CLIENT_SECRET',
      'is not set.',
      'Set it, or HUB_CONNECTOR_CLIENT_SECRET_FILE, to the secret of a service account with telemetry:write.',
    )
  }
  const sharedSecret = readSecret(reader, secretVariable)
  const host = readHost(reader, flags, sharedSecret)
  const portSource = reader.source('HUB_CONNECTOR_PORT', { name: '--port', value: flags.port })
  const port = reader.integer(portSource, { min: 0, max: 65_535 }, connectorPortDefault)
  const spoolDirectory = spoolDirectoryOf(env, flags)
  const sizeSource = reader.source('HUB_CONNECTOR_SPOOL_MAX_MIB', { name: '--spool-max-mib', value: flags.spoolMaxMib })
  const spoolMib = reader.integer(sizeSource, { min: 1, max: spoolMibMax }, spoolMibDefault)
  const retrySource = reader.source('HUB_CONNECTOR_RETRY_MAX_SECONDS', {
    name: '--retry-max-seconds',
    value: flags.retryMaxSeconds,
  })
  const retryMaxSeconds = reader.integer(retrySource, { min: 1, max: 3600 }, retryMaxSecondsDefault)
  const logLevel = reader.choice(reader.source('HUB_LOG_LEVEL'), logLevels, 'info')
  if (reader.problems.length > 0) throw new ConfigError(reader.problems)
  return Object.freeze({
    /** The Hub's URL without a trailing slash. */
    hubUrl: hubUrl!,
    /** True if this is the known Hub of the spool at another address. */
    hubMoved: flags.hubMoved ?? false,
    tenant: tenant!,
    clientId: clientId!,
    clientSecret: clientSecret!,
    host,
    port,
    /** The absolute path of the spool. */
    spoolDirectory,
    spoolBytesMax: spoolMib * 1024 * 1024,
    /** The bearer token that producers must send; undefined on loopback without a configured secret. */
    sharedSecret,
    retryMaxMs: retryMaxSeconds * 1000,
    logLevel,
  })
}

/** Returns the directory of the spool, the only setting that commands for inspecting it need. */
export function spoolDirectoryOf(env: NodeJS.ProcessEnv, flags: Pick<ConnectorFlags, 'spool'>): string {
  return resolve(flags.spool ?? (env.HUB_CONNECTOR_SPOOL || '.hub-connector'))
}

function readHubUrl(reader: SettingReader, flags: ConnectorFlags): string | undefined {
  const variable = flags.hubUrl === undefined ? 'HUB_CONNECTOR_HUB_URL' : '--hub-url'
  if (reader.text(variable) === undefined) {
    reader.report('--hub-url', 'is not set.', 'Name the address of the Hub, such as https://hub.example.com')
    return undefined
  }
  const origin = reader.origin(variable, { httpsOnly: false })
  if (origin !== undefined && exposesSecrets(origin)) {
    reader.report(variable, `is "${origin}", and the secret would cross the network in clear.`, 'Use https.')
    return undefined
  }
  return origin
}

function readTenant(reader: SettingReader, flags: ConnectorFlags): string | undefined {
  const source = reader.source('HUB_CONNECTOR_TENANT', { name: '--tenant', value: flags.tenant })
  if (source === undefined) reader.report('--tenant', 'is not set.', 'Name the tenant, as in X-Service-Tenant.')
  else if (!new RegExp(patterns.tenantSlug).test(source.text)) {
    reader.report(source.variable, 'is not a tenant’s name.', `Use ${patternWords[patterns.tenantSlug]}.`)
  }
  return source?.text
}

function readClientId(reader: SettingReader): string | undefined {
  const clientId = reader.text('HUB_CONNECTOR_CLIENT_ID')
  if (clientId !== undefined && /^[A-Za-z0-9]{1,128}$/.test(clientId)) return clientId
  reader.report(
    'HUB_CONNECTOR_CLIENT_ID',
    clientId === undefined ? 'is not set.' : 'is not a client id, which has letters and digits only.',
    'Set it to the client_id of a service account of the tenant with telemetry:write.',
  )
  return undefined
}

/** Reads a secret, or the file that the variable with `_FILE` names. Messages never contain it. */
function readSecret(reader: SettingReader, variable: string): string | undefined {
  // Spaces and blank lines around a secret have never counted.
  const secret = reader.text(variable)?.trim()
  if (secret === undefined) return reader.isSet(variable) ? '' : undefined
  if (/^[\x21-\x7e]+$/.test(secret)) return secret
  reader.report(variable, 'has no secret of visible ASCII characters.', 'Use the secret alone, on one line.')
  return ''
}

function readHost(reader: SettingReader, flags: ConnectorFlags, sharedSecret: string | undefined): string {
  const source = reader.source('HUB_CONNECTOR_HOST', { name: '--host', value: flags.host })
  const host = source?.text ?? '127.0.0.1'
  if (isIP(host) === 0 && host !== 'localhost') {
    reader.report(source!.variable, `is "${host}".`, 'Use an IP address of this machine, or localhost.')
  } else if (!isLoopbackHost(isIP(host) === 6 ? `[${host}]` : host) && sharedSecret === undefined) {
    reader.report(
      source!.variable,
      `is ${host}, where others can reach it.`,
      `Set ${secretVariable} to what producers shall send as their bearer token, or listen on 127.0.0.1.`,
    )
  }
  if (sharedSecret && sharedSecret.length < sharedSecretLengthMin) {
    reader.report(
      secretVariable,
      `has fewer than ${sharedSecretLengthMin} characters.`,
      'Use a random one: openssl rand -hex 32',
    )
  }
  return host
}
