import { lazyRouteComponent, type RouteComponent } from '@tanstack/react-router'

/** The script of a page did not come: no connection, or the Hub was upgraded since this window was opened. */
export class PageNotLoaded extends Error {
  override readonly name = 'PageNotLoaded'

  constructor(cause: unknown) {
    super('This page could not be loaded.', { cause })
  }
}

/**
 * A page whose script is fetched when somebody goes there, or points at a link to it. Where it does not come, the router
 * would load the whole window anew, which offline ends at the browser's own error page, and loses what was typed: the
 * error of our own keeps it from that, and {@link PageFailed} says what to do.
 */
export function lazyPage<Module extends { default: unknown }>(importer: () => Promise<Module>): RouteComponent {
  return lazyRouteComponent(() =>
    importer().catch((cause: unknown) => {
      throw new PageNotLoaded(cause)
    }),
  ) as RouteComponent
}
