import { Anchor, type AnchorProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import { type AnchorHTMLAttributes, forwardRef } from 'react'

type LinkedTextProps = Omit<AnchorProps, 'component'> & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps>

const LinkedText = forwardRef<HTMLAnchorElement, LinkedTextProps>((props, ref) => <Anchor ref={ref} {...props} />)

/** A link to a page of the UI inside a text. */
export const LinkText = createLink(LinkedText)
