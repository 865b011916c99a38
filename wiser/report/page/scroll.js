/* Marks what scrolls sideways while there is more of it to the right. */

for (const part of document.querySelectorAll(".scroll")) {
  const look = () => part.classList.toggle("more", part.scrollWidth - part.clientWidth - part.scrollLeft > 2);
  part.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(part);
}
