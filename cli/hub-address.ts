import { SettingReader } from '../server/config/setting-reader.ts'
import { isLoopbackHost } from '../server/http/request-headers.ts'
import { ConfigError, StartupError } from '../server/startup-error.ts'

/** The variables of a command that works as a service account with a Hub elsewhere. */
export const hubVariables = ['HUB_URL', 'HUB_TENANT', 'HUB_CLIENT_ID', 'HUB_CLIENT_SECRET'] as const

export type HubTarget = ReturnType<typeof targetIn>

/** Returns true if a secret would cross the network in clear to an address: http, except to this machine. */
export function exposesSecrets(address: string): boolean {
  const { protocol, host } = new URL(address)
  return protocol === 'http:' && !isLoopbackHost(host)
}

/**
 * Returns the Hub and the account that {@link hubVariables} name. Throws StartupError with the variables to set.
 *
 * @param remedy where to get an account
 */
export function targetIn(
  environment: NodeJS.ProcessEnv,
  remedy = 'Create an account with: hub service-account create',
) {
  const reader = new SettingReader(environment)
  const values = hubVariables.map((name) => reader.text(name) ?? '')
  if (reader.problems.length > 0) throw new ConfigError(reader.problems)
  const missing = hubVariables.filter((_, index) => values[index] === '')
  if (missing.length > 0) {
    throw new StartupError(
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set.`,
      `Set ${hubVariables.join(', ')} for the command. ${remedy}`,
    )
  }
  const [baseUrl = '', tenant = '', clientId = '', clientSecret = ''] = values
  return { baseUrl: addressIn(baseUrl, 'HUB_URL'), tenant, clientId, clientSecret }
}

/**
 * Returns the address of a Hub without a slash at its end.
 *
 * @param place the variable or argument that has it
 * @param Refusal the class of errors
 * @throws Refusal if it is no address, has more than a host, a port and a path, or a secret would cross the network in
 *   clear
 */
export function addressIn(text: string, place: string, Refusal: typeof StartupError = StartupError): string {
  const fix = 'Set it to one such as https://hub.example.com.'
  const url = URL.canParse(text) ? new URL(text) : undefined
  // Not repeated in the message: it may have a password.
  if (url?.username || url?.password) throw new Refusal(`${place} must not contain a user name or password.`, fix)
  if (!url || !/^https?:$/.test(url.protocol)) throw new Refusal(`${place} is not an address: ${text}`, fix)
  if (/[?#]/.test(text)) throw new Refusal(`${place} must not have a query or fragment: ${text}`, fix)
  if (exposesSecrets(text)) {
    throw new Refusal(`${place} is "${text}", and the secret would cross the network in clear.`, 'Use https.')
  }
  return text.replace(/\/+$/, '')
}
