import type { RouteComponent } from '@tanstack/react-router'
import { type ComponentType, use } from 'react'

/**
 * Signals that the script of a page did not load: no connection, or the Hub was upgraded since this window was opened.
 */
export class PageNotLoaded extends Error {
  override readonly name = 'PageNotLoaded'

  constructor(cause: unknown) {
    super('This page could not be loaded.', { cause })
  }
}

/**
 * A page whose script is loaded when the user opens it or points at a link to it. The router's own loader would reload
 * the whole window on a failure: offline this ends at the browser's error page, and input is lost. This one throws
 * PageNotLoaded while rendering, which ErrorPage shows; pointing at a link has no consequence.
 */
export function lazyPage<Module extends { default: unknown }>(importer: () => Promise<Module>): RouteComponent {
  let loaded: ComponentType | undefined
  let attempt: Promise<ComponentType> | undefined
  const load = () => {
    attempt ??= importer().then(
      (module) => {
        loaded = module.default as ComponentType
        return loaded
      },
      (cause: unknown) => {
        throw new PageNotLoaded(cause)
      },
    )
    return attempt
  }
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each route, when the script begins
  function Page() {
    const Loaded = loaded ?? use(load())
    return <Loaded />
  }
  Page.preload = async () => {
    await load().catch(() => {
      attempt = undefined
    })
  }
  return Page
}
