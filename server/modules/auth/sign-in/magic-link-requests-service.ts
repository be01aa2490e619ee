import { DomainError } from '../../../../contract/domain-error.ts'
import { requireEmail } from '../../../../contract/email-address.ts'
import { magicLinkHours } from '../../../../contract/limits.ts'
import type { Database, DatabaseLog, TenantTx } from '../../../db/database.ts'
import { isServedAt } from '../../../http/caller.ts'
import type { JobSender } from '../../../jobs/job-sender.ts'
import type { JobDefinition } from '../../../jobs/queue.ts'
import { MailDeliveryError } from '../../../mail/mail-delivery-error.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import { decryptSecret, deriveKey, encryptSecret } from '../../../secrets/encryption.ts'
import type { IdentityProviders } from '../../identity/identity-types.ts'
import type { SignInLinks } from '../../links/links-types.ts'
import type { SignInUsers } from '../../roster/roster-types.ts'
import type { TenantDirectory } from '../../tenants/tenants-types.ts'
import { magicLinkMail } from './magic-link-mail.ts'
import { allowsMagicLink } from './magic-link-rule.ts'
import { defaultReturnPath, returnPath } from './return-path.ts'

export interface MagicLinkRequest {
  email: string
  tenant: string
  /** Slug of the tenant whose own address the request came in at. */
  hostTenant?: string | undefined
  /** Where to land, as it was asked for. */
  returnTo?: string | undefined
}

export interface MagicLinkRequests {
  /**
   * Has a link mailed, if somebody with that address may sign in. Whether so is decided later, by the job: the answer
   * and its time are the same for everyone. Throws `hub-unavailable` when no mail can be sent at all.
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

/** What the job works on. The queue keeps it sealed: it names a person, and the token opens a session. */
interface Order extends MagicLinkRequest {
  /** Made once, so that a message that is tried again has the same link. */
  token: string
  requestedAtMs: number
}

const jobName = 'mail-sign-in-link'
const sealContext = 'sign-in link request'
/** A longer one is the default: an address has to fit into a message. Of ASCII characters. */
const returnPathLengthMax = 1000
/**
 * Every order is as long, so that its length does not tell the address: 254 characters of at most 4 bytes, the path, and
 * the rest.
 */
const orderBytes = 2560
/** A server that greylists takes a message after some minutes (RFC 6647, section 2.4): tries go on for two hours. */
const retries = { retryLimit: 8, retryDelaySeconds: 30 }

export function createMagicLinkRequests(deps: Deps): MagicLinkRequests {
  const { directory, mailer, links, log } = deps
  const key = deriveKey(deps.masterKey, 'sign-in link requests')

  /** The address as it is known, for another spelling may lead to another mailbox; undefined for a stranger. */
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
    await mailer.send(magicLinkMail(made.email, tenant, made.link)).catch((error: unknown) => {
      if (!(error instanceof MailDeliveryError && error.permanent)) throw error
      log.warn({ tenant: slug, err: error }, 'a sign-in link could not be mailed')
    })
  }

  let toldOfNoMail = false
  /** The log is told once: anybody may ask for links, and again and again. */
  function noMail(): DomainError {
    const detail = 'Mail is not configured here, so no sign-in link can be sent. An operator sets HUB_SMTP_URL.'
    if (!toldOfNoMail) log.warn({}, `a sign-in link was asked for: ${detail}`)
    toldOfNoMail = true
    return new DomainError('hub-unavailable', detail, { logged: false })
  }

  return {
    async accept(request) {
      requireEmail(request.email)
      if (!mailer.available) throw noMail()
      const { email, tenant, hostTenant } = request
      const returnTo = mailedPath(request.returnTo)
      const order: Order = { email, tenant, hostTenant, returnTo, token: links.newToken(), requestedAtMs: Date.now() }
      const text = Buffer.alloc(orderBytes, ' ')
      text.write(JSON.stringify(order))
      await deps.jobSender.send(jobName, { sealed: encryptSecret(key, text, sealContext).toString('base64') })
    },
    job: {
      name: jobName,
      ...retries,
      pollingIntervalSeconds: 1,
      // Anybody may cause jobs, and a mail server may take its time: those of others are not to wait for that.
      atOnce: 5,
      handler: async ({ data }) => {
        const sealed = Buffer.from((data as { sealed: string }).sealed, 'base64')
        await carryOut(JSON.parse(decryptSecret(key, sealed, sealContext).toString()))
      },
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
