import { DomainError, validationFailed } from '../../../../contract/domain-error.ts'
import { isEmail } from '../../../../contract/email-address.ts'
import type { IdentityProvider, ProviderClaims } from '../../identity/identity-types.ts'

const again = 'Begin the sign-in again.'

/** The address, where it is one that may sign in. */
export function usableEmail({ email, emailVerified }: ProviderClaims, provider: IdentityProvider): string {
  if (email === undefined || !isEmail(email)) {
    throw refused(
      'email_missing',
      'The identity provider does not tell the Hub an e-mail address of yours. Have an administrator release the claim `email` to the Hub.',
    )
  }
  if (emailVerified === false) {
    throw refused(
      'email_unverified',
      'The identity provider has not verified your e-mail address. Verify it there, then sign in again.',
    )
  }
  if (!provider.allowsEmail(email)) {
    throw refused(
      'email_domain',
      'The domain of your e-mail address is not one that this tenant lets sign in. Sign in with an address of the organisation, or have an administrator add the domain.',
    )
  }
  return email
}

function refused(reason: string, detail: string): DomainError {
  return new DomainError('authentication-failed', detail, { extensions: { reason } })
}

/** The 400 for a callback that answers no login of this browser. `detail` completes a sentence that begins with its state. */
export function notOfThisLogin(detail: string): DomainError {
  return validationFailed(
    [{ pointer: '/query/state', detail }],
    `This is not the answer to a login of this browser: the state ${detail}. ${again}`,
  )
}

/** Nobody learns which tenants exist. */
export function noSuchLogin(slug: string): DomainError {
  return new DomainError(
    'invalid-tenant',
    'There is no tenant of this name that signs in by an identity provider. Check the name, or sign in by a link.',
    { extensions: { tenant_slug: slug } },
  )
}

/** Why a person was not let in; undefined where the provider is away, or the person left off. */
export function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof DomainError)) return undefined
  const { reason } = error.extensions
  if (error.slug === 'authentication-failed') return String(reason ?? 'refused')
  if (error.slug === 'hub-unavailable') return reason === 'client_refused' ? reason : undefined
  const cancelled = error.errors?.some(({ pointer }) => pointer === '/query/error')
  return error.slug === 'validation-failed' && !cancelled ? 'callback' : undefined
}
