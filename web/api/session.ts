import { decodeJwt } from 'jose'
import { apiBaseUrl } from './api-base-url.ts'
import { type AccessToken, isOfThisSession, removeStoredToken, storeToken, takeStoredToken } from './kept-token.ts'
import { HubProblem, HubUnreachable, problemOf } from './problem.ts'
import { forgetPages } from './recent-pages.ts'

/** The tokens as tabs exchange them. The refresh token is held in variables only. */
interface Tokens extends AccessToken {
  /** Held by the tab that requested or renewed the token; a page that took a stored token has none. */
  refreshToken?: string
}

type Message = { kind: 'tokens'; tokens: Tokens } | { kind: 'signed-out' }

/** Milliseconds before expiry at which a token is renewed, so that it does not expire in transit. */
const marginMs = 30_000
/** Milliseconds to wait for another tab's tokens: the end of its turn and its tokens arrive by different channels. */
const tokensFollowMs = 500

let tokens: Tokens | undefined
/** The user of this page (`tenant subject`) and their scopes. */
let openedFor: { whom: string; scope: string } | undefined
/** True once the page navigates away; then it shows no new content. */
let leaving = false
const tabs = new BroadcastChannel('hub-session')

tabs.onmessage = async ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'tokens' && (await isForThisPage(data.tokens))) keep(data.tokens)
  if (data.kind === 'signed-out') leave()
}

/**
 * Returns true if the tokens are for this page and newer than its own. A page that was just opened belongs to the user
 * of the browser's cookie. Another tab may hold tokens of an earlier session, so the page accepts only those of its own
 * session.
 */
async function isForThisPage(fresh: Tokens): Promise<boolean> {
  if (openedFor === undefined && !(await isOfThisSession(fresh))) return false
  return fresh.renewAtMs > (tokens?.renewAtMs ?? 0)
}

function hasFresh(): boolean {
  return tokens !== undefined && Date.now() < tokens.renewAtMs
}

/**
 * Returns an access token that remains valid for a while. The Hub permits a session ten token requests a minute, so all
 * tabs share the token: a page that was just opened or reloaded takes the token that another page of the session
 * stored; one tab at a time renews it and notifies the others. Without a session, sends the user to `/sign-in`.
 *
 * @throws HubProblem if the Hub refuses for another reason, HubUnreachable if it does not respond
 */
export async function accessToken(): Promise<string> {
  if (!hasFresh()) await takeStored()
  if (tokens && hasFresh()) return tokens.accessToken
  return inTurn(async (afterAnother) => {
    if (afterAnother) await tokensOfAnother()
    if (!hasFresh()) await renew()
    if (!tokens) throw new HubProblem(401, { title: 'You are signed out', detail: 'Sign in again to go on.' })
    return tokens.accessToken
  })
}

async function takeStored(): Promise<void> {
  const stored = await takeStoredToken()
  if (stored && !hasFresh()) keep(stored)
}

/** @param work receives true if it had to wait for another tab's turn */
async function inTurn(work: (afterAnother: boolean) => Promise<string>): Promise<string> {
  const name = 'hub-session'
  const atOnce = await navigator.locks.request(name, { ifAvailable: true }, (lock) => (lock ? work(false) : undefined))
  return atOnce ?? navigator.locks.request(name, () => work(true))
}

/** Waits briefly until another tab has shared its tokens: it may have none, or another user's. */
async function tokensOfAnother(): Promise<void> {
  await takeStored()
  if (hasFresh()) return
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, tokensFollowMs)
  kept.addEventListener('fresh', () => resolve(), { once: true })
  await promise
}

async function renew(): Promise<void> {
  const refreshToken = tokens?.refreshToken
  // A refresh token is valid once. If the response is lost, repeating it would later look like the use of a stolen one.
  tokens = undefined
  const body = refreshToken === undefined ? undefined : { grant_type: 'refresh_token', refresh_token: refreshToken }
  let response = await post('/api/v1/auth/token', body)
  if (response.status === 401 && body) response = await post('/api/v1/auth/token')
  if (response.status === 401) return leave()
  if (!response.ok) throw await problemOf(response)
  const answer = await response.json()
  const renewed = {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token,
    renewAtMs: Date.now() + answer.expires_in * 1000 - marginMs,
  }
  keep(renewed)
  tabs.postMessage({ kind: 'tokens', tokens: renewed } satisfies Message)
  if (!leaving) void storeToken(renewed)
}

/** Dispatches `fresh` when this page has received tokens, from any tab. */
const kept = new EventTarget()

/** Dispatches `changed` when the user's permissions differ from before. */
export const permissionChanges = new EventTarget()

/**
 * Adopts new tokens. All tabs of a browser have one session. If one of them signed in as another user or to another
 * tenant, the others reload, so that nobody sees, or sends, the former user's data.
 */
function keep(fresh: Tokens): void {
  if (leaving) return
  const { sub, tenant, scope } = decodeJwt<{ tenant: string; scope: string }>(fresh.accessToken)
  const whom = `${tenant} ${sub}`
  if (openedFor !== undefined && openedFor.whom !== whom) {
    leaveWord(`Somebody signed in to ${tenant} in another tab of this browser, so this tab switched to it.`)
    goTo('/')
    return
  }
  const changed = openedFor !== undefined && openedFor.scope !== scope
  openedFor = { whom, scope }
  tokens = fresh
  kept.dispatchEvent(new Event('fresh'))
  if (changed) permissionChanges.dispatchEvent(new Event('changed'))
}

const wordKey = 'hub-word'

/** Leaves a flash message for the next page in this tab. */
function leaveWord(text: string): void {
  try {
    sessionStorage.setItem(wordKey, text)
  } catch {
    // Storage is switched off: the next page shows no message.
  }
}

/** Returns the flash message of the previous page, once. */
export function takeFlashMessage(): string | undefined {
  try {
    const text = sessionStorage.getItem(wordKey) ?? undefined
    sessionStorage.removeItem(wordKey)
    return text
  } catch {
    return undefined
  }
}

async function post(path: string, body?: object): Promise<Response> {
  try {
    return await fetch(`${apiBaseUrl}${path}`, {
      method: 'POST',
      credentials: 'include',
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  } catch (error) {
    throw new HubUnreachable(error)
  }
}

/** Drops a token that the Hub rejected: it was revoked, or the permissions changed. The next call gets another. */
export function forgetToken(refused: string): void {
  if (tokens?.accessToken !== refused) return
  tokens = undefined
  removeStoredToken()
}

/** Ends the session, here or everywhere, in every tab; then shows the page `/sign-in`. */
export async function signOut({ everywhere = false } = {}): Promise<void> {
  const response = await post('/api/v1/auth/logout', { everywhere })
  if (!response.ok && response.status !== 401) throw await problemOf(response)
  tabs.postMessage({ kind: 'signed-out' } satisfies Message)
  leave()
}

function leave(): void {
  removeStoredToken()
  forgetPages()
  goTo(signInAddress())
}

/** Navigates once: every call that fails now would lead there as well. */
function goTo(address: string): void {
  tokens = undefined
  if (leaving) return
  leaving = true
  window.location.assign(address)
}

// The back button may restore a page with its content, for another person at the same machine.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted && leaving) window.location.reload()
})

/** Returns the address of `/sign-in`, which leads back to the current page. */
export function signInAddress(tenant = rememberedTenant()): string {
  const { pathname, search } = window.location
  const query = new URLSearchParams({ ...(tenant && { tenant }), return_to: `${pathname}${search}` })
  return `${apiBaseUrl}/sign-in?${query}`
}

const tenantsKey = 'hub-tenants'

/** Returns the slugs of tenants that this browser signed in to, the last one first. */
export function knownTenants(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(tenantsKey) ?? '[]')
    return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

export function rememberTenant(slug: string): void {
  const all = [slug, ...knownTenants().filter((each) => each !== slug)]
  try {
    localStorage.setItem(tenantsKey, JSON.stringify(all.slice(0, 10)))
  } catch {
    // Storage is switched off or full; the list is a convenience.
  }
}

function rememberedTenant(): string | undefined {
  return knownTenants()[0]
}
