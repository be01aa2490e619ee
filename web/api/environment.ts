/**
 * True if the Hub runs in development, where the UI offers demo data and marks some checks as optional. The served page
 * states it; otherwise the environment is staging or production.
 */
export const isDevelopment =
  document.querySelector<HTMLMetaElement>('meta[name="hub-environment"]')?.content === 'development'
