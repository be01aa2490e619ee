const key = 'hub-reloaded-at'
const onceEveryMs = 60_000

/**
 * A window that was open while the Hub was upgraded asks for parts that are gone: the page is loaded anew, then it has
 * the new ones. Only once a minute, lest a part that fails for another reason turns in a circle.
 */
export function reloadAfterUpgrade(): void {
  window.addEventListener('vite:preloadError', () => {
    const last = Number(sessionStorage.getItem(key))
    if (Date.now() - last < onceEveryMs) return
    sessionStorage.setItem(key, String(Date.now()))
    window.location.reload()
  })
}
