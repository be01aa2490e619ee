import { DomainError, validationFailed } from '../../../../contract/domain-error.ts'
import { isEmail } from '../../../../contract/email-address.ts'
import type { IdentityProvider, ProviderClaims } from '../../identity/identity-types.ts'

const again = 'Start the sign-in again.'

/** Returns the address if it may sign in; throws otherwise. */
export function usableEmail({ email, emailVerified }: ProviderClaims, provider: IdentityProvider): string {
  if (email === undefined || !isEmail(email)) {
    throw refused(
      'email_missing',
      'The identity provider does not send your e-mail address to the Hub. Ask an administrator to release the ' +
        'claim `email` to the Hub.',
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
      'The domain of your e-mail address is not allowed in this tenant. Sign in with an address of the ' +
        'organisation, or ask an administrator to add the domain.',
    )
  }
  return email
}

function refused(reason: string, detail: string): DomainError {
  return new DomainError('authentication-failed', detail, { extensions: { reason } })
}

/**
 * Creates the 400 for a callback that matches no login of this browser. `detail` completes a sentence whose subject is
 * the state.
 */
export function notOfThisLogin(detail: string): DomainError {
  return validationFailed(
    [{ pointer: '/query/state', detail }],
    `This is not the response to a login of this browser: the state ${detail}. ${again}`,
  )
}

/** Creates the same error for every tenant without a login, so that it does not reveal which tenants exist. */
export function noSuchLogin(slug: string): DomainError {
  return new DomainError(
    'invalid-tenant',
    'No tenant of this name uses single sign-on. Check the name, or sign in by a link.',
    { extensions: { tenant_slug: slug } },
  )
}

/** Reason of the 503 for a provider that rejects the client secret of the Hub. */
export const clientRejected = 'client_refused'

/** Reasons about people whom the provider vouched for with a valid ID token. */
const ofPeople = new Set(['email_missing', 'email_unverified', 'email_domain', 'deactivated', 'other_identity'])

/**
 * Returns the reason to record for the tenant. Returns undefined for failures that anybody can cause without signing in
 * at the provider, such as a made-up code: strangers write nothing into a tenant's log.
 */
export function notedReason(error: unknown): string | undefined {
  const reason = error instanceof DomainError ? error.extensions.reason : undefined
  return typeof reason === 'string' && (ofPeople.has(reason) || reason === clientRejected) ? reason : undefined
}
