/* Parts of a product y = K x over a share of a mesh, of which other processes have points too: what
 * is found at points in common travels while the rest is computed. */
#ifndef HX_PRODUCT_PART_H
#define HX_PRODUCT_PART_H

/* A product at once, or its parts in this order. BOUNDARY and INTERIOR need nothing of each other
 * and run side by side, once BEGIN has run; REST follows both. What INTERIOR and REST do leaves y
 * at points in common alone: it is on its way then. */
typedef enum {
    HX_PRODUCT_WHOLE,
    HX_PRODUCT_BEGIN,    /* what both of the next need: zeros, where they add to y */
    HX_PRODUCT_BOUNDARY, /* elements or rows with points in common: y is complete there */
    HX_PRODUCT_INTERIOR, /* all others */
    HX_PRODUCT_REST      /* what both leave to be added up */
} hx_product_part;

#endif
