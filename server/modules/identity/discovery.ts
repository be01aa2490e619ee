import type { Outbound } from '../../outbound/outbound.ts'
import { outboundErrorIn } from '../../outbound/outbound-error.ts'
import { ProviderError, type ProviderMetadata, readMetadata } from './provider-metadata.ts'

const documentPath = '/.well-known/openid-configuration'

/** Returns the problem of an issuer that is visible before any request; undefined if there is none. */
export function problemOfIssuer(issuer: string, outbound: Outbound): string | undefined {
  const problem = outbound.problemOf(issuer)
  if (problem !== undefined) return problem
  if (/[?#]/.test(issuer)) return 'must have no query and no fragment'
  if (issuer.includes('/.well-known/')) return `must be the issuer itself, without ${documentPath}`
  return undefined
}

/**
 * Fetches and validates the configuration of a provider (OpenID Connect Discovery 1.0, section 4).
 * Throws {@link ProviderError}, whose cause is an OutboundError if the provider was unreachable.
 */
export async function discover(issuer: string, outbound: Outbound): Promise<ProviderMetadata> {
  const url = `${issuer.replace(/\/$/, '')}${documentPath}`
  return about(url, async () => readMetadata(await getJson(url, outbound), issuer, outbound))
}

/** Checks that the endpoints resolve to addresses the Hub may connect to. Throws {@link ProviderError}. */
export async function checkAddresses(metadata: ProviderMetadata, outbound: Outbound): Promise<void> {
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = metadata
  await Promise.all(
    Object.entries({ authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint }).map(async ([name, url]) => {
      const problem = url && (await outbound.resolvedProblemOf(url))
      if (problem) throw new ProviderError(`The ${name} ${url} ${problem}.`)
    }),
  )
}

/** Fetches the keys of a provider and returns their number. Throws {@link ProviderError}. */
export async function checkKeys(jwksUri: string, outbound: Outbound): Promise<number> {
  return about(jwksUri, async () => {
    const { keys } = ((await getJson(jwksUri, outbound)) ?? {}) as { keys?: unknown }
    if (!Array.isArray(keys) || keys.length === 0) throw new ProviderError('has no member `keys` with a key')
    return keys.length
  })
}

async function getJson(url: string, outbound: Outbound): Promise<unknown> {
  const answer = await outbound.fetch(url, { headers: { accept: 'application/json' } })
  if (answer.status !== 200) throw new ProviderError(`responded ${answer.status}, not 200`)
  try {
    return await answer.json()
  } catch {
    throw new ProviderError('is not JSON')
  }
}

/** Adds the fetched address to every problem. */
async function about<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const cause = outboundErrorIn(error)
    if (cause) throw new ProviderError(`GET ${url}: the address ${cause.message}.`, { cause })
    if (error instanceof ProviderError) throw new ProviderError(`GET ${url}: the document ${error.message}.`)
    throw error
  }
}
