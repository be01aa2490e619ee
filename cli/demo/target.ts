import { join } from 'node:path'
import { HubError } from '../../sdk/typescript/src/index.ts'
import type { Config } from '../../server/config.ts'
import { readInstanceFile } from '../../server/embedded-postgres/data-directory.ts'
import { findPostmaster } from '../../server/embedded-postgres/postmaster.ts'
import { StartupError } from '../../server/startup-error.ts'
import { type HubTarget, hubVariables, targetIn } from '../hub-address.ts'
import { DemoHub } from './demo-hub.ts'

/** The Hub that the demo is loaded into, and the account that loads it. */
export interface DemoTarget extends HubTarget {
  /** True if the Hub stops with the command. */
  isTemporary: boolean
}

const remoteRemedy = 'Name a service account with all scopes, or unset HUB_URL to use the Hub of this machine.'
const otherHubRemedy =
  'Set HUB_DATA_DIR (or HUB_DATABASE_URL) as that Hub has it, or HUB_PORT (or HUB_BASE_URL) to the address of the Hub of this data directory, or to a free port if none runs. ' +
  `To load into any other Hub, set ${hubVariables.join(', ')}.`

/**
 * Returns the Hub that the environment names; undefined without `HUB_URL`.
 * @param slug overrides `HUB_TENANT`
 * @throws StartupError if another variable is missing or the address is invalid
 */
export function remoteTarget(variables: NodeJS.ProcessEnv, slug: string | undefined): DemoTarget | undefined {
  if (!variables.HUB_URL) return undefined
  const environment = { ...variables, HUB_TENANT: slug ?? variables.HUB_TENANT }
  return { ...targetIn(environment, remoteRemedy), isTemporary: false }
}

/** Identifies the server at an address: `hub`, `other` for any other program, `none` without a response. */
export async function whatAnswersAt(baseUrl: string): Promise<'hub' | 'other' | 'none'> {
  let response: Response
  try {
    response = await fetch(`${baseUrl}/v1/health`, { signal: AbortSignal.timeout(3000), redirect: 'manual' })
  } catch {
    return 'none'
  }
  const body = (await response.json().catch(() => undefined)) as { status?: unknown; version?: unknown } | undefined
  return typeof body?.status === 'string' && typeof body.version === 'string' ? 'hub' : 'other'
}

/** Throws StartupError unless a Hub responds at `HUB_URL`. */
export async function requireRemoteHub({ baseUrl }: DemoTarget): Promise<void> {
  const answering = await whatAnswersAt(baseUrl)
  if (answering === 'hub') return
  throw new StartupError(
    answering === 'none' ? `No Hub answers at ${baseUrl}.` : `The program that answers at ${baseUrl} is not a Hub.`,
    'Set HUB_URL to the address of a running Hub.',
  )
}

/** Throws StartupError if another program uses the address. */
export function rejectOtherProgram(baseUrl: string): never {
  throw new StartupError(
    `The program that answers at ${baseUrl} is not a Hub.`,
    'Set HUB_PORT (or HUB_BASE_URL) to the address of your Hub, or to a free port if none runs.',
  )
}

/**
 * Throws StartupError if no Hub runs on the embedded database of this data directory, so that the Hub at the address is
 * another one. Creates nothing. An external database does not show its user; `connectTo` finds out.
 */
export async function requireOwnHub({ databaseUrl, dataDir }: Config, baseUrl: string): Promise<void> {
  if (databaseUrl !== undefined) return
  if (readInstanceFile(dataDir) && (await findPostmaster(join(dataDir, 'pg')))) return
  throw new StartupError(
    `A Hub answers at ${baseUrl}, and it does not use the data directory of this command, ${dataDir}.`,
    otherHubRemedy,
  )
}

/** Opens a client. Throws StartupError with the variable to set if the Hub rejects the account. */
export async function connectTo(target: DemoTarget, isRemote: boolean): Promise<DemoHub> {
  const hub = new DemoHub(target)
  try {
    // An endpoint for administrators, so it requires the scopes of the load.
    await hub.get('/api/v1/service-accounts', { limit: 1 })
    return hub
  } catch (error) {
    if (!(error instanceof HubError) || ![401, 403].includes(error.status)) throw error
    throw isRemote ? remoteRejection(target, error) : localRejection(target)
  }
}

function remoteRejection({ baseUrl, tenant, clientId }: DemoTarget, { status, document }: HubError): StartupError {
  if (status === 401) {
    return new StartupError(
      `The Hub at ${baseUrl} refuses the secret of ${clientId}, or does not know this client.`,
      'Set HUB_CLIENT_ID and HUB_CLIENT_SECRET to a service account of the tenant.',
    )
  }
  if (String(document.type).endsWith('/invalid-tenant')) {
    return new StartupError(
      `${clientId} is not a service account of tenant ${tenant} at ${baseUrl}.`,
      'Set HUB_TENANT to the tenant of the service account.',
    )
  }
  return new StartupError(
    `${clientId} lacks scopes at ${baseUrl}: ${document.detail}`,
    'Set HUB_CLIENT_ID and HUB_CLIENT_SECRET to a service account with all scopes.',
  )
}

function localRejection({ baseUrl, tenant }: DemoTarget): StartupError {
  return new StartupError(
    `The Hub at ${baseUrl} does not know the service account that this command has just made for tenant ${tenant}: it uses another data directory or database.`,
    otherHubRemedy,
  )
}
