/**
 * Where the API is: the own origin, unless the operator serves the UI at another host of the site, which the page then
 * says. Without a trailing slash.
 */
export const apiBaseUrl =
  document.querySelector<HTMLMetaElement>('meta[name="hub-api"]')?.content.replace(/\/$/, '') ?? window.location.origin
