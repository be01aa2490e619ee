/**
 * The API's base URL, without a trailing slash: the page's own origin, unless the page states that the operator serves
 * the UI from another host of the site.
 */
export const apiBaseUrl =
  document.querySelector<HTMLMetaElement>('meta[name="hub-api"]')?.content.replace(/\/$/, '') ?? window.location.origin
