import type { Static } from 'typebox'
import { DomainError } from '../../../../contract/domain-error.ts'
import { type Database, type DatabaseLog, readTenant } from '../../../db/database.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'
import type { JobSender } from '../../../jobs/job-sender.ts'
import type { JobDefinition } from '../../../jobs/queue.ts'
import { mailJobOptions, sendMailOfJob } from '../../../mail/mail-job.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import { createPayloadCipher } from '../../../secrets/job-payload-cipher.ts'
import type { GovernanceLog } from '../../governance/governance-types.ts'
import type { IdentityProviders } from '../../identity/identity-types.ts'
import type { SignInLinks } from '../../links/links-types.ts'
import type { SignInUsers, User } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { type InvitationLink, invitationMail } from './invitation-mail.ts'
import type { InvitationBody, InvitationResponse } from './invitations-schemas.ts'

export type Invitations = ReturnType<typeof createInvitations>

interface Deps {
  database: Database
  masterKey: Buffer
  directory: TenantDirectory
  governance: GovernanceLog
  providers: IdentityProviders
  users: SignInUsers
  links: SignInLinks
  mailer: Pick<Mailer, 'available' | 'hasServer' | 'send'>
  jobSender: JobSender
  log: DatabaseLog
}

/** The payload of the job. The queue stores it encrypted, since the link opens a session. */
interface Order {
  tenant: string
  userId: string
  link: InvitationLink
}

const jobName = 'mail-invitation'

/**
 * Invites people who never signed in. Without single sign-on, an invitation is a link that opens their first session.
 * With single sign-on it leads to the sign-in page, because a link would bypass the identity provider.
 */
export function createInvitations(deps: Deps) {
  const { database, users, links, mailer, log } = deps
  const payloads = createPayloadCipher<Order>(deps.masterKey, 'invitations', 'invitation')

  async function invite(
    caller: Caller,
    userId: string,
    { delivery = mailer.hasServer ? 'mail' : 'link' }: Static<typeof InvitationBody>,
  ): Promise<Static<typeof InvitationResponse>> {
    const { tenant } = caller
    if (delivery === 'mail' && !mailer.available) throw noMail()
    return database.withTenant(tenant.slug, async (tx) => {
      const user = requireInvitee(await users.byId(tx, userId))
      const isProvided = await deps.providers.isConfigured(tx)
      // Issued in any case, because links are what the limits count. With a provider, nobody learns it.
      const issued = await links.invite(tx, tenant, user.email)
      const link: InvitationLink = isProvided ? { url: signInPageOf(tenant) } : issued
      const sign_in = isProvided ? 'identity_provider' : 'link'
      const expires = link.expiresAt !== undefined && { expires_at: link.expiresAt }
      await deps.governance.append(tx, tenant, {
        kind: 'tenant.config_changed',
        subject: `user:${userId}`,
        details: { change: 'user_invited', after: { delivery, sign_in, ...expires } },
        actor: caller,
      })
      if (delivery === 'mail') {
        await deps.jobSender.send(jobName, payloads.encrypt({ tenant: tenant.slug, userId, link }), { tx })
      }
      return { user_id: userId, delivery, sign_in, ...(delivery === 'link' && { url: link.url }), ...expires }
    })
  }

  /** Mails an invitation, unless the person signed in or was deactivated since. */
  async function carryOut({ tenant: slug, userId, link }: Order): Promise<void> {
    if (link.expiresAt !== undefined && Date.parse(link.expiresAt) < Date.now()) return
    const tenant = await deps.directory.find(slug)
    const user = tenant && (await readTenant(database, slug, (tx) => users.byId(tx, userId)))
    if (!user?.active || user.hasSignedIn || user.email === '') return
    const mail = invitationMail(user.email, tenant!, link)
    await sendMailOfJob({ mailer, log }, mail, { tenant: slug, user: userId }, 'an invitation could not be mailed')
  }

  const job: JobDefinition = {
    name: jobName,
    ...mailJobOptions,
    pollingIntervalSeconds: 1,
    handler: async ({ data }) => carryOut(payloads.decrypt(data)),
  }
  return { invite, job }
}

function requireInvitee(user: User | undefined): User {
  if (!user) throw new DomainError('not-found', 'The tenant has no user with this id.')
  const rejection = rejectionOf(user)
  if (rejection === undefined) return user
  const [detail, remedy] = rejection
  throw new DomainError('concurrent-modification', `This user ${detail}. ${remedy}`, {
    errors: [{ pointer: '/path/user_id', detail }],
  })
}

function rejectionOf(user: User): [detail: string, remedy: string] | undefined {
  if (!user.active) return ['is deactivated', 'Reactivate the user first.']
  if (user.hasSignedIn) return ['has signed in already', 'An invitation opens only the first session of a person.']
  if (user.email === '') return ['has no e-mail address', 'Set the address in the directory first.']
  return undefined
}

function signInPageOf({ baseUrl, slug }: Tenant): string {
  return `${baseUrl}/sign-in?${new URLSearchParams({ tenant: slug })}`
}

function noMail(): DomainError {
  const detail =
    'Mail is not configured here, so no invitation can be mailed. Use the delivery "link", or set HUB_SMTP_URL as an operator.'
  return new DomainError('hub-unavailable', detail, {
    errors: [{ pointer: '/delivery', detail: 'requires a mail server' }],
    logged: false,
  })
}
