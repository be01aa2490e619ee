import { decodeJwt } from 'jose'
import { apiBaseUrl } from './api-base-url.ts'
import { type AccessToken, isOfThisSession, removeStoredToken, storeToken, takeStoredToken } from './kept-token.ts'
import { HubProblem, HubUnreachable, problemOf } from './problem.ts'

/** As tabs hand it to one another. The refresh token is kept in variables only. */
interface Tokens extends AccessToken {
  /** Of the tab that asked, or renewed; a page that took a stored token has none. */
  refreshToken?: string
}

type Message = { kind: 'tokens'; tokens: Tokens } | { kind: 'signed-out' }

/** A request that leaves now shall not arrive with a token that has just ended. */
const marginMs = 30_000
/** The end of another tab's turn is told by one way, and its tokens come by another. */
const tokensFollowMs = 500

let tokens: Tokens | undefined
/** For whom this page was opened (`tenant subject`), and what they may do. */
let openedFor: { whom: string; scope: string } | undefined
/** The page is on its way to another one, and shows nothing new. */
let leaving = false
const tabs = new BroadcastChannel('hub-session')

tabs.onmessage = async ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'tokens' && (await isForThisPage(data.tokens))) keep(data.tokens)
  if (data.kind === 'signed-out') leave()
}

/**
 * A page that was just opened is for the person whose cookie the browser has. Another tab may have its tokens from a
 * session before, so the page takes those of its own session only.
 */
async function isForThisPage(fresh: Tokens): Promise<boolean> {
  if (openedFor === undefined && !(await isOfThisSession(fresh))) return false
  return fresh.renewAtMs > (tokens?.renewAtMs ?? 0)
}

function hasFresh(): boolean {
  return tokens !== undefined && Date.now() < tokens.renewAtMs
}

/**
 * Returns an access token that is still good for a while. The Hub answers ten calls a minute of a session that ask for
 * one, so all tabs share it: a page that was just opened, or reloaded, takes the token that another page of the session
 * stored; one tab at a time renews it and tells the others. Without a session it leads to the page `/sign-in`.
 *
 * @throws HubProblem where the Hub refuses for another reason, HubUnreachable where it does not answer
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

/** @param work is told whether it had to wait for another's */
async function inTurn(work: (afterAnother: boolean) => Promise<string>): Promise<string> {
  const name = 'hub-session'
  const atOnce = await navigator.locks.request(name, { ifAvailable: true }, (lock) => (lock ? work(false) : undefined))
  return atOnce ?? navigator.locks.request(name, () => work(true))
}

/** Waits until another tab has handed on its tokens, but not for long: it may have got none, or another person's. */
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
  // It is good once: if the answer is lost, sending it again would later pass for the use of a stolen one.
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

/** Dispatches `fresh` when this page has got tokens, from whatever tab. */
const kept = new EventTarget()

/** Dispatches `changed` where the person's rights are others than before. */
export const permissionChanges = new EventTarget()

/**
 * All tabs of a browser have one session. Where somebody signed in as another person or to another tenant in one of
 * them, the others begin anew, so that nobody sees, or sends, what was the other's.
 */
function keep(fresh: Tokens): void {
  if (leaving) return
  const { sub, tenant, scope } = decodeJwt<{ tenant: string; scope: string }>(fresh.accessToken)
  const whom = `${tenant} ${sub}`
  if (openedFor !== undefined && openedFor.whom !== whom) {
    leaveWord(`Somebody signed in to ${tenant} in another tab of this browser, so this one began anew there.`)
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

/** Says something on the page that comes next in this tab. */
function leaveWord(text: string): void {
  try {
    sessionStorage.setItem(wordKey, text)
  } catch {
    // Storage is switched off: the page that comes says by itself where one is.
  }
}

/** What the page before this one left to be said, once. */
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

/** The Hub did not take the token: it was revoked, or the person has other rights since. The next call gets another. */
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
  goTo(signInAddress())
}

/** Once is enough: every call of the page that fails now would lead there, and the first is on its way. */
function goTo(address: string): void {
  tokens = undefined
  if (leaving) return
  leaving = true
  window.location.assign(address)
}

// The back button may show a page as it was left, to whoever sits there then.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted && leaving) window.location.reload()
})

/** The page `/sign-in`, which leads back to the page that is open now. */
export function signInAddress(tenant = rememberedTenant()): string {
  const { pathname, search } = window.location
  const query = new URLSearchParams({ ...(tenant && { tenant }), return_to: `${pathname}${search}` })
  return `${apiBaseUrl}/sign-in?${query}`
}

const tenantsKey = 'hub-tenants'

/** Tenants that this browser signed in to, the last one first: names only. */
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
