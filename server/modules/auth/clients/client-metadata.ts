import type { Static } from 'typebox'
import { clientNameLengthMax, clientRedirectsLengthMax } from '../../../../contract/limits.ts'
import { oauthError } from '../tokens/token-request.ts'
import type { RegisteredClient } from './client-registrations.ts'
import type { ClientMetadata } from './clients-schemas.ts'
import { hostOf, redirectFault } from './redirect-uris.ts'

/**
 * Reads the metadata of a registration (RFC 7591, section 2). Members that the Hub does not use are ignored, and no
 * address among them is ever fetched.
 *
 * @throws DomainError with the members of an OAuth error
 */
export function readClientMetadata(metadata: Static<typeof ClientMetadata>): Omit<RegisteredClient, 'clientId'> {
  const redirectUris = [...new Set(metadata.redirect_uris)]
  for (const [index, uri] of redirectUris.entries()) {
    const fault = redirectFault(uri)
    if (fault !== undefined) {
      const pointer = `/redirect_uris/${index}`
      throw oauthError('invalid_redirect_uri', `The redirect URI ${fault}.`, { pointer })
    }
  }
  if (redirectUris.join('').length > clientRedirectsLengthMax) {
    const detail = `All redirect URIs together must have at most ${clientRedirectsLengthMax} characters.`
    throw oauthError('invalid_redirect_uri', detail, { pointer: '/redirect_uris' })
  }
  return { name: printable(metadata.client_name) || hostOf(redirectUris[0] as string), redirectUris }
}

/** Returns a name without characters that change how the text around it reads, such as those of writing direction. */
function printable(name: string | undefined): string {
  return (name ?? '')
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .replace(/\p{Zs}+/gu, ' ')
    .trim()
    .slice(0, clientNameLengthMax)
    .toWellFormed()
}
