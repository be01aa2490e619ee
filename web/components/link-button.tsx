import { Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import { type AnchorHTMLAttributes, forwardRef } from 'react'

type LinkedButtonProps = Omit<ButtonProps, 'component'> &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps>

const LinkedButton = forwardRef<HTMLAnchorElement, LinkedButtonProps>((props, ref) => (
  <Button component="a" variant="default" ref={ref} {...props} />
))

/** A link to a page that looks like a button: `<LinkButton to="/exports" search={{ create: '1' }}>`. */
export const LinkButton = createLink(LinkedButton)
