/* Parts of a product y = K x over a subdomain of a mesh: values at interface points are exchanged
 * while the rest is computed. */
#ifndef HX_PRODUCT_PART_H
#define HX_PRODUCT_PART_H

/* A whole product, or its parts in this order. BOUNDARY and INTERIOR are independent and may run
 * concurrently once BEGIN has run; REST follows both. INTERIOR and REST do not write y at interface
 * points, which is being exchanged meanwhile. */
typedef enum {
    HX_PRODUCT_WHOLE,
    HX_PRODUCT_BEGIN, /* prepares the next two parts: zeros y if they add to it */
    /* elements or rows with interface points; afterwards y is complete there */
    HX_PRODUCT_BOUNDARY,
    HX_PRODUCT_INTERIOR, /* all others */
    HX_PRODUCT_REST      /* adds what both have left to sum */
} hx_product_part;

#endif
