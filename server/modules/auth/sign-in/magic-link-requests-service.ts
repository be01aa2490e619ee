import { DomainError } from '../../../../contract/domain-error.ts'
import { requireEmail } from '../../../../contract/email-address.ts'
import { magicLinkHours } from '../../../../contract/limits.ts'
import type { Database, DatabaseLog, TenantTx } from '../../../db/database.ts'
import { isServedAt } from '../../../http/caller.ts'
import type { JobSender } from '../../../jobs/job-sender.ts'
import type { JobDefinition } from '../../../jobs/queue.ts'
import { mailJobOptions, sendMailOfJob } from '../../../mail/mail-job.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import { createPayloadCipher } from '../../../secrets/job-payload-cipher.ts'
import type { IdentityProviders } from '../../identity/identity-types.ts'
import type { SignInLinks } from '../../links/links-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { defaultReturnPath, returnPath } from './landing.ts'
import { magicLinkMail } from './magic-link-mail.ts'
import { allowsMagicLink } from './magic-link-sign-in-service.ts'

export interface MagicLinkRequest {
  email: string
  tenant: string
  /** Slug of the tenant whose own host received the request. */
  hostTenant?: string | undefined
  /** The requested path to land at. */
  returnTo?: string | undefined
}

export interface MagicLinkRequests {
  /**
   * Queues the mail of a link for an address that may sign in. The job decides that later, so the response and its time
   * are the same for everyone. Throws `hub-unavailable` if mail is not configured.
   */
  accept(request: MagicLinkRequest): Promise<void>
  job: JobDefinition
}

interface Deps {
  database: Database
  masterKey: Buffer
  directory: TenantDirectory
  providers: IdentityProviders
  users: SignInUsers
  links: SignInLinks
  mailer: Mailer
  jobSender: JobSender
  log: DatabaseLog
}

/** The payload of the job. The queue stores it encrypted, since it names a person and the token opens a session. */
interface Order extends MagicLinkRequest {
  /** Made once, so that a retried message has the same link. */
  token: string
  requestedAtMs: number
}

const jobName = 'mail-sign-in-link'
/**
 * Maximum length of the return path in ASCII characters; a longer one becomes the default, since the address must fit
 * into a message.
 */
const returnPathLengthMax = 1000
/**
 * Length of every payload in bytes, equal for all so that it does not reveal the address: 254 characters of at most 4
 * bytes, the path, and the rest.
 */
const orderBytes = 2560
export function createMagicLinkRequests(deps: Deps): MagicLinkRequests {
  const { directory, mailer, links, log } = deps
  const payloads = createPayloadCipher<Order>(deps.masterKey, 'sign-in link requests', 'sign-in link request')

  /** Returns the address as stored, since another spelling may reach another mailbox; undefined for a stranger. */
  async function recipient(tx: TenantTx, email: string): Promise<string | undefined> {
    const user = await deps.users.ofEmail(tx, email)
    if (!user) return deps.users.awaitedAdministrator(tx, email)
    return (await allowsMagicLink(tx, user, deps.providers)) ? user.email : undefined
  }

  async function carryOut(order: Order): Promise<void> {
    if (Date.now() - order.requestedAtMs > magicLinkHours * 3_600_000) return
    const { tenant: slug, hostTenant } = order
    const tenant = await directory.find(slug)
    if (!tenant || !isServedAt(hostTenant, tenant)) return
    const made = await deps.database.withTenant(slug, async (tx) => {
      const email = await recipient(tx, order.email)
      const link = email === undefined ? undefined : await links.issueForMail(tx, tenant, email, order.token)
      return link && email && { link: { ...link, url: `${link.url}${queryOf(order)}` }, email }
    })
    if (!made) return
    const mail = magicLinkMail(made.email, tenant, made.link)
    await sendMailOfJob({ mailer, log }, mail, { tenant: slug }, 'a sign-in link could not be mailed')
  }

  let hasLoggedNoMail = false
  /** Creates the error for missing mail settings. Logs it once, since anybody can request links repeatedly. */
  function noMail(): DomainError {
    const detail = 'Mail is not configured here, so no sign-in link can be sent. An operator sets HUB_SMTP_URL.'
    if (!hasLoggedNoMail) log.warn({}, `a sign-in link was requested: ${detail}`)
    hasLoggedNoMail = true
    return new DomainError('hub-unavailable', detail, { logged: false })
  }

  return {
    async accept(request) {
      requireEmail(request.email)
      if (!mailer.available) throw noMail()
      const { email, tenant, hostTenant } = request
      const returnTo = mailedPath(request.returnTo)
      const order: Order = { email, tenant, hostTenant, returnTo, token: links.newToken(), requestedAtMs: Date.now() }
      await deps.jobSender.send(jobName, payloads.encrypt(order, orderBytes))
    },
    job: {
      name: jobName,
      // Several at once, since anybody can cause these jobs, and a slow mail server must not delay the jobs of others.
      ...mailJobOptions,
      pollingIntervalSeconds: 1,
      handler: async ({ data }) => carryOut(payloads.decrypt(data)),
    },
  }
}

function mailedPath(asked: string | undefined): string | undefined {
  const path = returnPath(asked)
  return path === defaultReturnPath || path.length > returnPathLengthMax ? undefined : path
}

function queryOf({ returnTo }: Order): string {
  return returnTo === undefined ? '' : `?${new URLSearchParams({ return_to: returnTo })}`
}
