import { HubClient, type HubClientOptions } from '../sdk/typescript/src/index.ts'
import type { SessionCredentials } from './connector/hub-session.ts'
import { addressIn, targetIn } from './hub-address.ts'
import { configFolder } from './login/config-folder.ts'
import { NotSignedInError } from './login/login-errors.ts'
import { LoginFile, type StoredLogin } from './login/login-file.ts'
import { personTokens } from './login/person-tokens.ts'
import { UsageError } from './output.ts'

/** The Hub, the tenant and the credentials of a command. */
export interface HubConnection {
  options: HubClientOptions
  /** The place of the credentials: variables, or a file. */
  source: string
  /** The stored login; undefined if variables win over it. */
  login: StoredLogin | undefined
}

/** Retries of commands of people, who would rather read an error than wait for minutes. */
const patience = { retries: 2, retryAfterMaxSeconds: 30 }

export function loginFile(): LoginFile {
  return new LoginFile(configFolder())
}

/**
 * Returns the connection of a command: by HUB_CLIENT_ID and HUB_CLIENT_SECRET if one of them is set, which then need
 * HUB_URL and HUB_TENANT, else by the stored login.
 *
 * @throws NotSignedInError without any; StartupError if variables are missing or invalid; UsageError if they and the
 *   stored login disagree
 */
export async function hubConnection(environment: NodeJS.ProcessEnv = process.env): Promise<HubConnection> {
  if (namesAccount(environment)) {
    return { options: { ...targetIn(environment), ...patience }, source: 'HUB_CLIENT_ID', login: undefined }
  }
  const file = loginFile()
  const login = await file.read()
  if (login === undefined) {
    const fix = 'Run: hub login ADDRESS\nPrograms set HUB_URL, HUB_TENANT, HUB_CLIENT_ID and HUB_CLIENT_SECRET.'
    throw new NotSignedInError('You are not signed in.', fix)
  }
  rejectOther(login, environment)
  const { hub_url: baseUrl, tenant } = login
  const credentials =
    login.kind === 'person'
      ? { accessToken: personTokens(file, login) }
      : { clientId: login.client_id, clientSecret: login.client_secret }
  return { options: { baseUrl, tenant, ...credentials, ...patience }, source: file.path, login }
}

/** Returns true if variables name a service account, directly or by a file. */
export function namesAccount(environment: NodeJS.ProcessEnv): boolean {
  return ['HUB_CLIENT_ID', 'HUB_CLIENT_SECRET'].some((name) => environment[name] || environment[`${name}_FILE`])
}

/** Returns the Hub and the credentials of a command that sends requests itself. Throws as {@link hubConnection}. */
export async function sessionTarget(): Promise<{ baseUrl: string; tenant: string } & SessionCredentials> {
  const { options, login } = await hubConnection()
  const { baseUrl, tenant } = options
  if (login?.kind === 'person') return { baseUrl, tenant, accessToken: personTokens(loginFile(), login) }
  if (login) return { baseUrl, tenant, clientId: login.client_id, clientSecret: login.client_secret }
  return targetIn(process.env)
}

/** Returns the client of a command. Throws as {@link hubConnection}. */
export async function openHub(): Promise<HubClient> {
  return new HubClient((await hubConnection()).options)
}

/** Throws UsageError if the variables name another Hub or tenant than the login: its tokens are for that one alone. */
function rejectOther({ hub_url, tenant }: StoredLogin, { HUB_URL, HUB_TENANT }: NodeJS.ProcessEnv): void {
  const isOther = (HUB_URL && addressIn(HUB_URL, 'HUB_URL') !== hub_url) || (HUB_TENANT && HUB_TENANT !== tenant)
  if (!isOther) return
  throw new UsageError(
    `You are signed in to tenant ${tenant} at ${hub_url}, but HUB_URL or HUB_TENANT name another one.`,
    'Unset them, or sign in there with: hub login ADDRESS --tenant TENANT',
  )
}
